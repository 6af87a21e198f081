import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { cudaProvider } from '@agentgym/agent/engine'
import { seesGpu } from './job-gpus.ts'
import { deployedHarness } from './scenario-code.ts'
import { machineWalls, type WrappedCommand } from './walls.ts'

/**
 * The command that runs `entry` (a .ts or .js file) as a job on this machine, with `folder` as its working folder.
 * `otherSizes` gives it half as much stack again; with `network` it can open sockets and find hosts by name; what is in
 * `library` it can read as well, and start processes, which that code may need.
 */
export async function jobCommand(
  entry: string,
  folder: string,
  {
    otherSizes = false,
    network = false,
    library = [],
  }: { otherSizes?: boolean; network?: boolean; library?: readonly string[] } = {},
): Promise<WrappedCommand> {
  const walls = await machineWalls()
  const roots = [...readableRoots(entry), ...library]
  const program = realpathSync(process.execPath)
  return walls.wrap({
    command: [
      program,
      ...nodeSwitches(roots, otherSizes ? stackKb.other : stackKb.usual),
      // Native code that looks for what the system has, and tries itself out in another process.
      ...(library.length === 0 ? [] : ['--allow-child-process', '--allow-fs-read=*']),
      entry,
    ],
    readable: [...roots, ...torchFolders(), ...cudaFolders(), ...(network ? resolverFiles : []), program],
    folder,
    network,
  })
}

/** What the C library reads to find a host by its name. */
const resolverFiles = ['/etc/hosts', '/etc/host.conf', '/etc/nsswitch.conf', '/etc/resolv.conf', '/etc/gai.conf']

/** V8's stack of a job, in KiB, and of one that must not depend on it. Threads have 4 MiB of stack. */
const stackKb = { usual: 984, other: 1_476 }

/** Node's own switches for a job. The permission model is a seat belt: the walls are the kernel's. */
function nodeSwitches(roots: string[], stack: number): string[] {
  return [
    // The V8 default. A fixed one, because a scenario can see how deep a recursion may go.
    `--stack-size=${stack}`,
    // isolated-vm asks for it.
    '--no-node-snapshot',
    // No inspector by signal.
    '--disable-sigusr1',
    '--permission',
    '--allow-addons',
    '--allow-worker',
    '--disable-warning=SecurityWarning',
    ...roots.map((folder) => `--allow-fs-read=${folder}`),
  ]
}

/** Folders that a job must read to load its modules: its own package, the workspace's packages, and node_modules. */
function readableRoots(entry: string): string[] {
  if (deployedHarness !== undefined) return [path.dirname(entry), '/etc/alpine-release']
  const require = createRequire(import.meta.url)
  const packages = [
    '@agentgym/agent/engine',
    '@agentgym/contract',
    '@agentgym/playing',
    '@agentgym/scenario/engine',
  ].map((name) => packageRoot(require.resolve(name)))
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

/** ONNX Runtime's CUDA library and what it loads. */
function cudaFolders(): string[] {
  if (!seesGpu()) return []
  const { folder, libraries } = cudaProvider()
  return folder === null ? [] : [folder, ...libraries]
}

/** Where the learner was built with a libtorch that is not the system's: its folder, and what pip put beside it. */
function torchFolders(): string[] {
  const file = fileURLToPath(new URL('../../learner/build/torch-root', import.meta.url))
  if (!existsSync(file)) return []
  const root = readFileSync(file, 'utf8').trim()
  return root === '' ? [] : [root, path.join(path.dirname(root), 'nvidia'), path.join(path.dirname(root), 'torch.libs')]
}
