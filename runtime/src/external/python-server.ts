import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { AgentGymError, errorReportSchema, escapeOutput, parseJson } from '@agentgym/contract'
import { VECTOR_PATH } from '@agentgym/contract/protocols'
import { z } from 'zod'
import { OutputTail } from '../sandbox/output-tail.ts'

/** A Python process that serves environments of Gymnasium by the vector protocol. */
export type PythonServer = {
  /** Of its WebSocket. */
  url: string
  close(): Promise<void>
}

export type PythonServerOptions = {
  /** `gymnasium:CartPole-v1`, or `python:MODULE:FUNCTION`. */
  target: string
  /** Keyword arguments of what makes an environment. */
  arguments?: Record<string, unknown>
  /** The interpreter. */
  python: string
  /** Longest step, in milliseconds, of all environments of a connection. */
  timeoutMs: number
  /** Takes what it prints to stderr, as it comes. */
  onOutput?: (text: string) => void
  /** It must have said its address within this. */
  startMs?: number
}

const TAIL_BYTES = 16_384
const ENDING_MS = 2_000

/** The Python package of this repository, where this package lies in it; else the installed one is used. */
const pythonSource = fileURLToPath(new URL('../../../sdk/python/src', import.meta.url))

/** A line of its output. */
const lineSchema = z.union([
  z.object({ event: z.literal('listening'), url: z.url() }),
  z.object({ error: errorReportSchema.omit({ code: true }).extend({ code: z.string() }) }),
])

/**
 * Starts `python -m agentgym.envs TARGET` on a free port of this machine and waits until it serves. It ends with `close`,
 * with this process, and when this process is killed: its standard input is a pipe whose other end nobody else has.
 * Throws `setup_incomplete` where Python or a package is missing, and `environment_unreachable`.
 */
export async function startPythonServer(options: PythonServerOptions): Promise<PythonServer> {
  const { target, python, timeoutMs, onOutput = () => {}, startMs = 120_000 } = options
  const serving = [target, '--port', '0', '--exit-with-stdin', '--json', '--step-timeout', String(timeoutMs / 1000)]
  const given = options.arguments === undefined ? [] : ['--kwargs', JSON.stringify(options.arguments)]
  const child = spawn(python, ['-m', 'agentgym.envs', ...serving, ...given], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: searchPath() },
    // Ctrl-C in a terminal reaches the whole group, and the environments must outlive the iteration under way.
    detached: true,
  })
  const tail = new OutputTail(TAIL_BYTES)
  child.stderr.on('data', (chunk: Buffer) => {
    tail.push(chunk)
    onOutput(chunk.toString())
  })
  child.stdin.on('error', () => {})
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const close = async () => {
    process.off('exit', kill)
    await ended(child)
  }
  try {
    return { url: await addressOf(child, { target, python, tail, startMs }), close }
  } catch (error) {
    await close()
    throw error
  }
}

function searchPath(): string {
  const paths = [...(existsSync(pythonSource) ? [pythonSource] : []), process.env.PYTHONPATH ?? '']
  return paths.filter((folder) => folder !== '').join(path.delimiter)
}

type Start = { target: string; python: string; tail: OutputTail; startMs: number }

function addressOf(child: ChildProcess, start: Start): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const late = `it did not start within ${start.startMs / 1000} s`
  const timer = setTimeout(() => reject(notStarted(start, late)), start.startMs)
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const parsed = lineSchema.safeParse(parseJson(line))
      if (!parsed.success) return
      if ('error' in parsed.data) reject(refused(start, parsed.data.error))
      else resolve(`${parsed.data.url.replace(/^http/, 'ws').replace(/\/$/, '')}${VECTOR_PATH}`)
    })
  }
  child.on('error', (error: NodeJS.ErrnoException) => reject(noPython(start.python, error)))
  child.on('close', (code, signal) => reject(notStarted(start, `its process ended (${signal ?? `status ${code}`})`)))
  return promise.finally(() => clearTimeout(timer))
}

/** Ends it by closing its standard input, and kills it where that does not help. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const end = new Promise((resolve) => child.once('exit', resolve))
  child.stdin?.end()
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDING_MS)
  await end
  clearTimeout(timer)
}

function noPython(python: string, error: NodeJS.ErrnoException): AgentGymError {
  const missing = error.code === 'ENOENT'
  return new AgentGymError(
    {
      code: 'setup_incomplete',
      message: missing ? `there is no ${python} to run Gymnasium with` : `${python} cannot be run: ${error.message}`,
      hint: 'Install Python 3.11 or later, or name the interpreter of a virtual environment with --python.',
      data: { python },
    },
    { cause: error },
  )
}

/** What pip installs, by the module that Python misses. */
const packages: Record<string, string> = {
  agentgym: 'agentgym[gymnasium]',
  ale_py: 'gymnasium[atari]',
  Box2D: 'gymnasium[box2d]',
  mujoco: 'gymnasium[mujoco]',
  numpy: 'gymnasium',
  pygame: 'gymnasium[toy-text]',
}

/** The server's own report: it could not make the environment, or cannot serve its spaces. */
function refused(start: Start, { message, hint }: { message: string; hint?: string | undefined }): AgentGymError {
  const needed = neededPackage(message)
  if (needed !== null) return lacks(start, needed)
  return new AgentGymError({
    code: 'environment_unreachable',
    message: `the environment ${start.target} cannot be served: ${escapeOutput(message, 1_000)}`,
    hint: hint ?? `See what it prints: ${start.python} -m agentgym.envs ${start.target}`,
    data: { python: start.python },
  })
}

function notStarted(start: Start, reason: string): AgentGymError {
  const output = start.tail.shown(2_000)
  const needed = neededPackage(output)
  if (needed !== null) return lacks(start, needed)
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  return new AgentGymError({
    code: 'environment_unreachable',
    message: `the environment ${start.target} could not be started: ${last === '' ? reason : escapeOutput(last, 400)}`,
    hint: `See what it prints: ${start.python} -m agentgym.envs ${start.target}`,
    data: { python: start.python, output },
  })
}

/** Gymnasium names the extra that an environment needs; Python names the module. */
function neededPackage(text: string): string | null {
  const extra = /pip install ["'`]?(?:swig && pip install ["'`]?)?(gymnasium\[[\w-]+\])/.exec(text)?.[1]
  const module = /No module named '([\w.]+)'/.exec(text)?.[1]?.split('.')[0]
  return extra ?? (module === undefined ? null : (packages[module] ?? module))
}

function lacks({ python, target }: Start, needed: string): AgentGymError {
  return new AgentGymError({
    code: 'setup_incomplete',
    message: `${python} lacks a package that ${target} needs: ${escapeOutput(needed, 100)}`,
    hint: `Install it: ${python} -m pip install "${needed}" websockets. Another interpreter: --python PATH.`,
    data: { python, package: needed },
  })
}
