import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuiltScenario, harnessSource } from '@agentgym/runtime/env-server'
import { build, type Plugin } from 'esbuild'
import { type Machine, serverBundle } from './bundle-server.ts'

export type BundledScenario = { scenario: BuiltScenario; readme: string | null }

/**
 * Writes the program that serves a scenario's environments into a folder: its bundles, one for each process and thread, the
 * native code of isolated-vm, and the scenario's own bundle. It runs with nothing but Node. No folder is called `node_modules`:
 * OpenEnv leaves those out of what it builds.
 */
export async function bundleEnvServer(
  folder: string,
  { scenario, readme }: BundledScenario,
  machine: Machine,
): Promise<void> {
  const entry = fileURLToPath(import.meta.resolve('@agentgym/runtime/env-server/deployed'))
  const harness = JSON.stringify(await harnessSource())
  const programs = [{ name: 'server', file: entry }]
  for (const { name, file } of programs) {
    await build({
      ...serverBundle,
      absWorkingDir: dirname(entry),
      entryPoints: [{ in: file, out: name }],
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      define: { AGENTGYM_HARNESS: harness },
      plugins: [
        besideEachOther((found) => programs.some((known) => known.file === found.file) || programs.push(found)),
        leftOut,
        nativeBeside,
      ],
    })
  }
  await copyNative(folder, createRequire(entry), machine)
  const own = join(folder, 'scenarios', scenario.package.name.replace(/^@[^/]*\//, ''))
  await mkdir(join(own, 'dist'), { recursive: true })
  await writeFile(join(own, 'package.json'), `${JSON.stringify(scenario.package, null, 2)}\n`)
  await writeFile(join(own, 'dist/scenario.js'), scenario.source)
  if (readme !== null) await writeFile(join(own, 'README.md'), readme)
}

/** Processes and threads are started by the address of their file: in the folder, all lie beside the server. */
function besideEachOther(found: (program: { name: string; file: string }) => void): Plugin {
  const address = /new URL\('(\.[^']*[-.](?:process|worker))(\.[jt]s)', import\.meta\.url\)/g
  return {
    name: 'programs',
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/, namespace: 'file' }, async ({ path }) => {
        const source = await readFile(path, 'utf8')
        const contents = source.replace(address, (_, program: string, ending: string) => {
          const name = basename(program)
          found({ name, file: join(dirname(path), program + ending) })
          return `new URL('./${name}.mjs', import.meta.url)`
        })
        return contents === source ? undefined : { contents, loader: 'default' }
      })
    },
  }
}

/** What builds scenarios and runs models is imported, and never used by this program. */
const leftOut: Plugin = {
  name: 'left-out',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(esbuild|onnxruntime-node.*)$/ }, ({ path }) => ({ path, namespace: 'left-out' }))
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {}' }))
  },
}

const nativeBeside: Plugin = {
  name: 'native',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^isolated-vm$/ }, ({ path }) => ({ path, namespace: 'native' }))
    onLoad({ filter: /.*/, namespace: 'native' }, () => ({
      contents: `import { createRequire } from 'node:module'
export default createRequire(import.meta.url)(\`./isolated-vm-\${process.arch}.node\`).ivm`,
    }))
  },
}

/** The builds of isolated-vm for Node 24, by processor. */
async function copyNative(folder: string, require: NodeJS.Require, { platform, processors }: Machine): Promise<void> {
  const prebuilds = join(dirname(require.resolve(native)), 'prebuilds')
  const file = `isolated-vm.abi${NODE_24_ABI}${platform === 'linux' ? '.glibc' : ''}.node`
  for (const processor of processors) {
    await cp(join(prebuilds, `${platform}-${processor}`, file), join(folder, `isolated-vm-${processor}.node`))
  }
}

/** Of the runtime's dependencies, the one with native code that this program runs. */
const native = 'isolated-vm'
const NODE_24_ABI = 137
