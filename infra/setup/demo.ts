// npm run demo: a service of its own, an author who publishes two scenarios, a builder who trains on them on the service's
// worker, publishes an agent, which the service verifies, and sells it to a buyer, who plays it again and puts it into an agent of
// LangChain. Everything but the agents lies in a temporary folder and is gone afterwards.
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { styleText } from 'node:util'
import {
  command,
  makePerson,
  type Person,
  plainEnvironment,
  root,
  run,
  runProgram,
  runQuietly,
  sayCommand,
  signUp,
} from './demo-people.ts'
import { buyAndPlay, offerForSale, printSale } from './demo-sale.ts'
import { printSummary } from './demo-summary.ts'

const scenarios = ['cart-pole', 'customer-support']
/** Of these, the one whose agent is sold: it picks the tools of a support desk. */
const sold = 'customer-support'
const published = '@builder/support'
const summary = 'Picks the tools that settle a customer request, at the least cost.'

type Server = { url: string; stop(): Promise<void> }

// Ctrl-C reaches everything that runs here: the command under way ends, and with it, in order, the demo.
process.on('SIGINT', () => {})

const folder = mkdtempSync(join(tmpdir(), 'agentgym-demo-'))
const log = join(folder, 'server.log')
let server: Server | undefined
try {
  process.exitCode = (await demo()) ? 0 : 1
} catch (error) {
  console.error(`✗ ${error instanceof Error ? error.message : error}`)
  console.error(readFileSync(log, { encoding: 'utf8', flag: 'a+' }).split('\n').slice(-20).join('\n'))
  process.exitCode = 1
} finally {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function demo(): Promise<boolean> {
  headline('A service', 'API, npm registry, queue and a worker that checks, trains and verifies, on a temporary folder')
  server = await startServer()
  console.log(`✓ Serves at ${server.url}`)
  const author = makePerson(folder, 'author', server.url)
  const builder = makePerson(folder, 'builder', server.url)

  headline('The author', 'publishes two of the built-in scenarios under a name of their own')
  await signUp(author)
  for (const name of scenarios) copyScenario(name, author)
  await publish(author)
  await run(author, ['price', `@author/${sold}`, '--royalty', '10'])

  headline('The builder', 'finds them, and trains on the service: one agent is published and verified, one stays here')
  await signUp(builder)
  await run(builder, ['search'])
  const agents = scenarios.map((name) => join('agents', name))
  for (const name of scenarios) {
    // --force: a second demo trains anew and moves the first one's agent aside.
    const words = ['train', `@author/${name}`, '--remote', '--watch', '--out', join(root, 'agents', name), '--force']
    await run(builder, name === sold ? [...words, '--publish', published, '--summary', summary] : words)
  }

  await verified(builder)
  await offerForSale(builder, published)

  headline('A buyer', 'pays for the agent and plays it again: bit for bit what the service has signed')
  const buyer = makePerson(folder, 'buyer', server.url)
  await signUp(buyer)
  const sale = await buyAndPlay({ author, seller: builder, buyer }, published)
  await run(buyer, ['agent', 'verify', published])
  await run(buyer, ['leaderboard', `@author/${sold}`])

  headline('Put to work', 'an agent of LangChain handles new tickets; who picks its tools?')
  await runProgram(buyer, 'demo-langchain.ts', [published])
  process.chdir(root)
  return printSummary(agents, () => printSale(sale))
}

/** The worker plays the agent again as soon as it has nothing else to do. */
async function verified(person: Person): Promise<void> {
  for (;;) {
    const { verification } = JSON.parse(await runQuietly(person, ['info', published, '--json']))
    if (verification?.state !== undefined && verification.state !== 'pending') return
    await delay(300)
  }
}

async function startServer(): Promise<Server> {
  const data = join(folder, 'data')
  const child = spawn(command, ['serve', '--port', '0', '--data', data, '--json'], {
    // Only this demo can upload to its server: it runs on machines that lack walls, too, and the worker says which.
    env: { ...plainEnvironment(), AGENTGYM_HOME: join(folder, 'server'), AGENTGYM_WITHOUT_WALLS: 'any' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stderr.pipe(createWriteStream(log))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = () => {
    child.kill('SIGINT')
    return ended
  }
  return { url: await servingUrl(child), stop }
}

function servingUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const line = /^\{"event":"serving".*$/m.exec(output)?.[0]
      if (line !== undefined) resolve(JSON.parse(line).url)
    })
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the server did not start: ${output}`)))
  })
}

/** A package carries its publisher's scope: the copy is named after the author, and is otherwise the same. */
function copyScenario(name: string, author: Person): void {
  const target = join(author.folder, name)
  cpSync(join(root, 'plugins', name), target, {
    recursive: true,
    filter: (path) => !['node_modules', 'dist', 'testdata'].includes(basename(path)),
  })
  const path = join(target, 'package.json')
  const manifest = { ...JSON.parse(readFileSync(path, 'utf8')), name: `@${author.name}/${name}` }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Side by side, as each waits for the server's checks; what the later ones say comes after the first. */
async function publish(author: Person): Promise<void> {
  const [first, ...others] = scenarios
  const later = others.map((name) => runQuietly(author, ['scenario', 'publish', name]))
  const shown = run(author, ['scenario', 'publish', first])
  // All are over before a failure ends the demo: none is left running behind it.
  const ended = await Promise.allSettled([shown, ...later])
  for (const one of ended) if (one.status === 'rejected') throw one.reason
  others.forEach((name, index) => {
    sayCommand(author, ['scenario', 'publish', name])
    const { value } = ended[index + 1] as PromiseFulfilledResult<string>
    process.stdout.write(value)
  })
}

function headline(title: string, what: string): void {
  console.log(`\n── ${styleText('bold', title)}: ${what} ──\n`)
}
