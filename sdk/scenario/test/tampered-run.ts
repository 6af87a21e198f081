/**
 * Loads the engine and a scenario into a realm of their own, replaces every built-in of that realm, and prints whether
 * the scenario still plays the same. Run by `node --experimental-vm-modules`, in a process of its own: Node's own code
 * uses the built-ins of its realm, so that one is left alone.
 */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { createContext, SourceTextModule } from 'node:vm'

const context = createContext({})
const modules = new Map<string, SourceTextModule>()

function load(url: string): SourceTextModule {
  const known = modules.get(url)
  if (known !== undefined) return known
  const source = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'))
  const module = new SourceTextModule(source, { context, identifier: url })
  modules.set(url, module)
  return module
}

const guest = load(new URL('./tampering-guest.ts', import.meta.url).href)
await guest.link((specifier, referrer) => load(new URL(specifier, referrer.identifier).href))
await guest.evaluate()
const { playBefore, tamper, isTampered, playAfter, faultsAfter, startAsync, settleAsync } =
  guest.namespace as typeof import('./tampering-guest.ts')

playBefore()
tamper()
const lines = [`tampered: ${isTampered()}`, `differences: ${playAfter()}`, faultsAfter(), startAsync()]
for (let crossing = 0; crossing < 3; crossing += 1) {
  await new Promise((resolve) => setImmediate(resolve))
  lines.push(settleAsync())
}
console.log(lines.join('\n'))
