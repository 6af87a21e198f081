import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Client, createClient } from '@agentgym/client'
import { type RunningServer, type ServeOptions, serve } from '@agentgym/registry'
import { writeBuild } from '@agentgym/runtime'
import { dataFolder } from '@agentgym/testkit/registry'

export type TestServer = RunningServer & {
  /** Folder of what is not in a database elsewhere. */
  data: string
  /** Log-in of somebody new: their client, and a token with all their scopes. */
  signUp(username: string, scopes?: string[]): Promise<{ client: Client; token: string }>
  remove(): Promise<void>
}

/** A server of its own, as `agentgym serve` starts it, on a folder that goes with it. */
export async function startServer(options: ServeOptions = {}): Promise<TestServer> {
  const environment: ServeOptions['environment'] = { AGENTGYM_LOG_LEVEL: 'error', ...options.environment }
  const isEmbedded = environment.DATABASE_URL === undefined
  const folder =
    options.data ?? (isEmbedded ? await dataFolder() : mkdtempSync(path.join(tmpdir(), 'agentgym-server-')))
  const server = await serve({ port: 0, data: folder, ...options, environment })
  return {
    ...server,
    data: folder,
    signUp: (username, scopes) => signUpAt(server.url, username, scopes),
    remove: async () => {
      await server.close()
      if (options.data === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

const usualScopes = [
  'packages:manage',
  'training:start',
  'training:view',
  'training:cancel',
  'training:evaluate',
  'data:export',
]

/** Signs somebody new up at a server, wherever it runs. */
export async function signUpAt(
  server: string,
  username: string,
  scopes: string[] = usualScopes,
): Promise<{ client: Client; token: string }> {
  const stranger = createClient({ server })
  const password = 'correct horse battery staple'
  await stranger.send('/v1/accounts', json({ username, email: `${username}@example.com`, password }))
  const session = await stranger.send('/v1/sessions', json({ username, password }))
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await stranger.send('/v1/tokens', json({ name: 'test', scopes }, { cookie }))
  const { token } = (await made.json()) as { token: string }
  return { client: createClient({ server, token }), token }
}

function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

export type PackedScenario = { name: string; version: string; tarball: Uint8Array }

/** A built-in scenario as another's package: built, with `change` made to its bundle, and packed as npm packs. */
export async function packScenario(
  plugin: string,
  {
    name,
    version = '1.0.0',
    change = (source: string) => source,
  }: { name: string; version?: string; change?: (source: string) => string },
): Promise<PackedScenario> {
  const root = mkdtempSync(path.join(tmpdir(), 'agentgym-pack-'))
  try {
    const folder = path.join(root, 'package')
    cpSync(path.join(import.meta.dirname, '../../plugins', plugin), folder, { recursive: true })
    const manifestFile = path.join(folder, 'package.json')
    const { dependencies: _, ...manifest } = JSON.parse(readFileSync(manifestFile, 'utf8'))
    writeFileSync(manifestFile, JSON.stringify({ ...manifest, name, version }))
    const { path: bundle } = await writeBuild(folder)
    writeFileSync(bundle, change(readFileSync(bundle, 'utf8')))
    rmSync(path.join(folder, 'node_modules'), { recursive: true, force: true })
    execFileSync('tar', ['--owner=0', '--group=0', '-czf', 'package.tgz', ...listed], { cwd: root })
    return { name, version, tarball: readFileSync(path.join(root, 'package.tgz')) }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const listed = ['package.json', 'README.md', 'LICENSE', 'dist/scenario.js', 'src/index.ts'].map(
  (file) => `package/${file}`,
)
