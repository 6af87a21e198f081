import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export type Ran = { status: number | null; stdout: string; stderr: string }
export type Client = (...parameters: string[]) => Promise<Ran>

let pnpmPath: Promise<string> | undefined

/** The pinned pnpm, as npx fetches and keeps it. Only this asks the registry that the machine uses otherwise. */
function findPnpm(): Promise<string> {
  pnpmPath ??= promisify(execFile)('npm', ['exec', '--yes', '--package=pnpm@12.4.2', '-c', 'command -v pnpm']).then(
    ({ stdout }) => stdout.trim(),
  )
  return pnpmPath
}

/**
 * npm and pnpm as someone uses them who knows no registry but ours. Home folder, settings and caches are theirs alone, so
 * that nothing of the machine's takes part.
 */
export async function clientsIn(home: string, { url, token }: { url: string; token: string | null }) {
  await mkdir(home, { recursive: true })
  const registry = `${url}/npm/`
  const lines = [`registry=${registry}`, 'fund=false', 'update-notifier=false', `cache=${join(home, 'npm-cache')}`]
  if (token !== null) lines.push(`${registry.replace(/^https?:/, '')}:_authToken=${token}`)
  await writeFile(join(home, '.npmrc'), `${lines.join('\n')}\n`)
  const pnpm = await findPnpm()
  return {
    npm:
      (cwd: string): Client =>
      async (...parameters) =>
        run('npm', parameters, cwd, home),
    pnpm:
      (cwd: string): Client =>
      async (...parameters) =>
        run(pnpm, parameters, cwd, home),
  }
}

async function run(command: string, parameters: string[], cwd: string, home: string): Promise<Ran> {
  await mkdir(cwd, { recursive: true })
  // Without a manifest, npm takes a project from a folder above, such as one that another program left in /tmp. It is not
  // made by `pnpm init`, which would ask the registry for pnpm itself from then on.
  if (!existsSync(join(cwd, 'package.json'))) await writeFile(join(cwd, 'package.json'), '{ "private": true }')
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm|pnpm|xdg)_/i.test(name))
  const env = { ...Object.fromEntries(inherited), HOME: home, NO_COLOR: '1', CI: '1' }
  const child = spawn(command, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ran: Ran = { status: null, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    ran.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    ran.stderr += chunk
  })
  const { promise, resolve, reject } = Promise.withResolvers<number | null>()
  child.on('error', reject)
  child.on('close', resolve)
  ran.status = await promise
  return ran
}
