// Fills a server that runs, with a worker, so that there is something to look at on its pages:
//   AGENTGYM_SERVER=http://localhost:3000 node web/test/seed-site.ts
// An author publishes the built-in scenarios, a builder trains on one of them through the server and sells the agent.
// Everybody's password is `correct horse battery staple`.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const server = process.env.AGENTGYM_SERVER
if (server === undefined) throw new Error('AGENTGYM_SERVER names no server to fill')
const folder = mkdtempSync(join(tmpdir(), 'agentgym-seed-'))

for (const person of ['author', 'builder', 'buyer']) {
  await as(person, ['signup', '--username', person, '--email', `${person}@example.com`])
  await as(person, ['login', '--username', person])
}
for (const scenario of ['cart-pole', 'customer-support', 'grid-maze', 'mountain-car', 'acrobot', 'pendulum']) {
  copyScenario(scenario)
  await as('author', ['scenario', 'publish', scenario])
}
await as('author', ['price', '@author/cart-pole', '--royalty', '10'])
await as('author', ['price', '@author/grid-maze', '12', '--yes'])
await as('builder', [
  'train',
  '@author/cart-pole',
  '--remote',
  '--watch',
  '--publish',
  '@builder/cart-pole',
  '--summary',
  'Keeps the pole upright.',
])
writeFileSync(join(workFolder('builder'), 'terms.txt'), 'Not for resale.')
await as('builder', ['price', '@builder/cart-pole', '25', '--trial', '100', '--terms', 'terms.txt', '--yes'])
await visible('@builder/cart-pole')
await as('buyer', ['balance', 'top-up', '40'])
await as('buyer', ['buy', '@builder/cart-pole', '--yes'])
console.log(`✓ Filled ${server}`)

/** Waits until an agent has passed its checks and is verified: until then only its publisher sees it. */
async function visible(name: string): Promise<void> {
  for (let waited = 0; waited < 300; waited++) {
    const response = await fetch(`${server}/v1/packages/${name}`)
    if (
      response.ok &&
      ((await response.json()) as { verification: { state: string } | null }).verification?.state !== 'pending'
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
  throw new Error(`${name} was not verified within five minutes`)
}

/** As a user with a separate machine. */
async function as(person: string, words: string[]): Promise<void> {
  console.log(`${person} $ agentgym ${words.join(' ')}`)
  const cwd = workFolder(person)
  await promisify(execFile)(join(root, 'agentgym'), words, {
    cwd,
    env: {
      ...process.env,
      AGENTGYM_SERVER: server,
      AGENTGYM_HOME: join(folder, person, 'home'),
      AGENTGYM_PASSWORD: 'correct horse battery staple',
      npm_config_userconfig: join(folder, person, '.npmrc'),
    },
  })
}

function workFolder(person: string): string {
  const cwd = join(folder, person, 'work')
  mkdirSync(cwd, { recursive: true })
  return cwd
}

/** A package carries its publisher's scope. */
function copyScenario(name: string): void {
  const target = join(workFolder('author'), name)
  const filter = (path: string) => !['node_modules', 'dist', 'testdata'].includes(basename(path))
  cpSync(join(root, 'plugins', name), target, { recursive: true, filter })
  const path = join(target, 'package.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), name: `@author/${name}` }, null, 2))
}
