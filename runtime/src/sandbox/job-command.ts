import { execFile } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** A program and its arguments, ready to spawn. */
export type JobCommand = { file: string; parameters: string[] }

const run = promisify(execFile)

/** Node's own switches for a job. The permission model is a seat belt: the walls are the process, its uid and limits. */
function nodeSwitches(entry: string): string[] {
  return [
    // isolated-vm asks for it.
    '--no-node-snapshot',
    // No inspector by signal.
    '--disable-sigusr1',
    '--permission',
    '--allow-addons',
    '--allow-worker',
    '--disable-warning=SecurityWarning',
    ...readableRoots(entry).map((folder) => `--allow-fs-read=${folder}`),
  ]
}

/** Folders that a job must read to load its modules: its own package, the workspace's packages, and node_modules. */
function readableRoots(entry: string): string[] {
  const require = createRequire(import.meta.url)
  const packages = ['@agentgym/contract', '@agentgym/scenario/engine'].map((name) => packageRoot(require.resolve(name)))
  const runtime = packageRoot(fileURLToPath(import.meta.url))
  const roots = new Set([runtime, packageRoot(entry), ...packages])
  for (let folder = runtime; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const installed = path.join(folder, 'node_modules')
    if (existsSync(installed)) roots.add(realpathSync(installed))
    // Module resolution looks for the nearest package.json.
    const manifest = path.join(folder, 'package.json')
    if (existsSync(manifest)) roots.add(manifest)
  }
  // isolated-vm's loader asks whether this is musl.
  roots.add('/etc/alpine-release')
  return [...roots]
}

function packageRoot(file: string): string {
  let folder = path.dirname(realpathSync(file))
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder)
  return folder
}

/**
 * Wrappers that put the job behind the kernel's walls, outermost first. Each is tried once a process with `true`; what
 * the machine lacks or forbids is left out.
 */
const wrappers: { name: string; variants: string[][] }[] = [
  {
    // No network but a loopback that is down; no shared memory or queues of others.
    name: 'unshare',
    variants: [
      ['--net', '--ipc', '--'],
      ['--user', '--map-current-user', '--net', '--ipc', '--'],
    ],
  },
  {
    // No core dumps, no file longer than zero bytes (pipes are not files), few descriptors.
    name: 'prlimit',
    variants: [['--core=0', '--fsize=0', '--nofile=1024', '--']],
  },
  { name: 'setpriv', variants: [['--no-new-privs', '--']] },
]

let probed: Promise<string[]> | undefined

/** The command that runs `entry` (a .ts or .js file) as a job on this machine. */
export async function jobCommand(entry: string): Promise<JobCommand> {
  probed ??= probeWrappers()
  const [file, ...parameters] = [...(await probed), process.execPath, ...nodeSwitches(entry), entry]
  return { file, parameters }
}

async function probeWrappers(): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const chain: string[] = []
  for (const { name, variants } of wrappers) {
    for (const variant of variants) {
      const works = await run(name, [...variant, 'true'], { timeout: 5_000 }).then(
        () => true,
        () => false,
      )
      if (!works) continue
      chain.push(name, ...variant)
      break
    }
  }
  return chain
}
