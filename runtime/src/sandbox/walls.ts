import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { type Wall, wallSchema } from '@agentgym/contract'
import { MAX_TASKS } from './job-memory.ts'
import { seccompFilter } from './seccomp-filter.ts'

/** How this machine puts a process behind walls: which there are, and the wrapper that makes them. */
export type Walls = {
  missing: readonly Wall[]
  /** Why walls are missing, in a sentence; null where none is. */
  reason: string | null
  wrap(job: WalledJob): WrappedCommand
}

export type WalledJob = {
  /** The program and its arguments. */
  command: readonly string[]
  /** What it may read, as files or folders; nothing else of the file system is there. */
  readable: readonly string[]
  /** Empty working folder. */
  folder: string
  /** The machine's own network in place of none. */
  network?: boolean
}

export type WrappedCommand = {
  command: string[]
  /** What bubblewrap reads and writes at descriptors 4 (the filter of system calls), 5 (its child's pid) and 6 (go). */
  bubblewrap: boolean
  /** Whether its filter of system calls must let it open sockets. */
  network: boolean
}

/** Descriptors of a job's process: 0 to 2, then Node's channel, then these; `memory` is what jobs of one run share. */
export const descriptors = { filter: 4, info: 5, start: 6, memory: 7 } as const

/**
 * No core dumps, no file longer than zero bytes (pipes are not files), few descriptors, few tasks. The kernel counts the
 * tasks by user: with bubblewrap every job has a user, or a user namespace, of its own.
 */
const limits = ['--core=0', '--fsize=0', '--nofile=1024']

/** Where the dynamic linker finds libraries; `/etc/alternatives` because Debian chooses the BLAS there. */
const libraries = [
  '/usr/lib',
  '/usr/lib32',
  '/usr/lib64',
  '/usr/local/lib',
  '/usr/local/cuda',
  '/opt/cuda',
  '/nix/store',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  // Number of processors and their caches.
  '/sys/devices/system/cpu',
  '/sys/devices/system/node',
]
const merged = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']

const everyWall = wallSchema.options

let probed: Promise<Walls> | undefined

/** The walls of this machine; found out once a process, by running a program behind them. */
export function machineWalls(): Promise<Walls> {
  probed ??= probeWalls([], process.getuid?.() === 0)
  return probed
}

/** The walls that another user of this machine would have; for root to ask, as tests do. */
export function wallsFor(user: number): Promise<Walls> {
  return probeWalls(['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'], false)
}

/** `as` goes before the command line, to run it as another user. */
async function probeWalls(as: string[], isRoot: boolean): Promise<Walls> {
  const prlimit = await locate('prlimit')
  if (process.platform !== 'linux')
    return openWalls([], `This system (${process.platform}) has no bubblewrap; jobs run as ordinary processes.`)
  const chain = [...as, ...(prlimit === undefined ? [] : [prlimit, ...limits, '--'])]
  const bwrap = await locate('bwrap')
  if (bwrap === undefined)
    return openWalls(chain, 'bubblewrap is not installed. Debian and Ubuntu: apt-get install bubblewrap.')
  const filter = seccompFilter()
  let refusal = ''
  for (const variant of variants(isRoot)) {
    const walls = closedWalls([...as, bwrap], prlimit, variant, filter !== undefined)
    refusal = await tryOut(walls, filter)
    if (refusal === '') return walls
  }
  return openWalls(chain, `bubblewrap cannot run here: ${refusal.trim().split('\n').at(-1)}`)
}

type Variant = { userNamespace: boolean; proc: boolean }

/** Best first. Root needs no user namespace, and without one a job can have a user of its own (`lockDown`). */
function variants(isRoot: boolean): Variant[] {
  return (isRoot ? [false, true] : [true]).flatMap((userNamespace) =>
    // A container that masks parts of its own /proc may not mount another.
    [true, false].map((proc) => ({ userNamespace, proc })),
  )
}

function closedWalls(bwrap: string[], prlimit: string | undefined, variant: Variant, filtered: boolean): Walls {
  const missing = everyWall.filter(
    (wall) => (wall === 'system-calls' && !filtered) || (wall === 'task-limit' && prlimit === undefined),
  )
  return {
    missing,
    reason: missing.length === 0 ? null : `Not on this machine (${process.arch}): ${missing.join(', ')}.`,
    wrap: ({ command, readable, folder, network = false }) => ({
      bubblewrap: true,
      network,
      command: [
        ...bwrap,
        ...namespaces(variant.userNamespace, network),
        ...fileSystem(variant.proc, [...readable, ...(prlimit === undefined ? [] : [prlimit])], folder),
        ...(filtered ? ['--seccomp', String(descriptors.filter)] : []),
        ...['--info-fd', String(descriptors.info), '--block-fd', String(descriptors.start), '--'],
        ...(prlimit === undefined ? [] : [prlimit, ...limits, `--nproc=${MAX_TASKS}`, '--']),
        ...command,
      ],
    }),
  }
}

/** Only the limits: for machines without bubblewrap. */
function openWalls(chain: string[], reason: string): Walls {
  return {
    missing: everyWall,
    reason,
    wrap: ({ command, network = false }) => ({ bubblewrap: false, network, command: [...chain, ...command] }),
  }
}

function namespaces(userNamespace: boolean, network: boolean): string[] {
  const own = ['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try']
  // Root keeps what it needs to become a user of its own and to load modules from any folder, until `lockDown`.
  const privileges = ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID', '--cap-add', 'CAP_DAC_READ_SEARCH']
  return [
    '--die-with-parent',
    ...(userNamespace ? ['--unshare-user'] : []),
    ...own,
    ...(network ? [] : ['--unshare-net']),
    ...['--hostname', 'job', '--cap-drop', 'ALL'],
    ...(userNamespace ? [] : privileges),
  ]
}

function fileSystem(proc: boolean, readable: string[], folder: string): string[] {
  const bind = (from: string, to = from) => ['--ro-bind-try', from, to]
  return [
    ...libraries.flatMap((file) => bind(file)),
    ...merged.flatMap((name) => link(name)),
    ...(proc ? ['--proc', '/proc'] : ['/proc/cpuinfo', '/proc/meminfo', '/proc/stat'].flatMap((file) => bind(file))),
    ...['--dev', '/dev'],
    ...gpuDevices().flatMap((file) => ['--dev-bind-try', file, file]),
    ...['--remount-ro', '/dev'],
    ...[...new Set(readable)].flatMap((file) => bind(file)),
    ...['--dir', folder, '--chdir', folder],
    ...['--remount-ro', '/'],
  ]
}

/** `/lib` and the like: links into /usr on a merged system, folders on others. */
function link(name: string): string[] {
  try {
    if (lstatSync(name).isSymbolicLink()) return ['--symlink', readlinkSync(name), name]
  } catch {
    return []
  }
  return name.startsWith('/lib') ? ['--ro-bind', name, name] : []
}

function gpuDevices(): string[] {
  try {
    return readdirSync('/dev')
      .filter((name) => name.startsWith('nvidia'))
      .map((name) => path.join('/dev', name))
  } catch {
    return []
  }
}

async function locate(program: string): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/bin', '/usr/local/bin']
  return folders.map((folder) => path.join(folder, program)).find((file) => path.isAbsolute(file) && existsSync(file))
}

/** Runs Node behind the walls. Gives what went wrong, empty for nothing. */
async function tryOut(walls: Walls, filter: Buffer | undefined): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-walls-'))
  const opened: number[] = []
  const open = (name: string, text: string | Buffer, flags: string) => {
    const file = path.join(folder, name)
    writeFileSync(file, text)
    opened.push(openSync(file, flags))
  }
  try {
    open('filter', filter ?? '', 'r')
    open('info', '', 'w')
    open('start', 'x', 'r')
    const { command } = walls.wrap({
      command: [process.execPath, '--version'],
      readable: [process.execPath],
      folder: path.join(folder, 'empty'),
    })
    return await runWith(command, opened)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command with files at descriptors 4 and up. Gives what it wrote to stderr if it failed, else an empty string. */
async function runWith([file, ...parameters]: readonly string[], opened: readonly number[]): Promise<string> {
  const child = spawn(file, parameters, {
    env: {},
    timeout: 20_000,
    stdio: ['ignore', 'ignore', 'pipe', 'ignore', ...opened],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  try {
    const [code, signal] = await once(child, 'close')
    return code === 0 ? '' : stderr.trim() || `it ended with ${signal ?? code}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Opens the filter for one job; its descriptor is the caller's to close. */
export function openFilter(folder: string, network: boolean): number | undefined {
  const filter = seccompFilter({ network })
  if (filter === undefined) return undefined
  const file = path.join(folder, '.filter')
  writeFileSync(file, filter, { mode: 0o600 })
  try {
    return openSync(file, 'r')
  } finally {
    rmSync(file)
  }
}
