import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import type { JobLimits } from './limits.ts'
import { type SupervisedJob, superviseJob } from './supervisor.ts'
import type { Probe } from './testing/probe.process.ts'
import { machineWalls } from './walls.ts'

const identity = { name: '@t/scenario', version: '2.0.0', hash: '' }

function supervise(probe: Probe, options: Partial<SupervisedJob> = {}): Promise<unknown> {
  return superviseJob({
    entry: new URL('./testing/probe.process.ts', import.meta.url),
    job: probe,
    identity,
    ...options,
  })
}

async function failureOf(probe: Probe, limits: Partial<JobLimits> = {}): Promise<AgentGymError> {
  const error = await supervise(probe, { limits }).catch((reason: unknown) => reason)
  if (!(error instanceof AgentGymError)) throw new Error(`not a typed failure: ${String(error)}`)
  return error
}

describe.concurrent('what a job returns', () => {
  test('its result', async () => {
    expect(await supervise({ act: 'echo', text: 'hello' })).toBe('hello')
  })

  test('every message, in order and before the result', async () => {
    const received: number[] = []
    const onMessage = async (message: unknown) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      received.push((message as { i: number }).i)
    }
    expect(await supervise({ act: 'messages', count: 20 }, { onMessage })).toBe(20)
    expect(received).toEqual(Array.from({ length: 20 }, (_, i) => i))
  })

  test('an expected failure as it was, a bug as training_failed with its stack', async () => {
    const expected = await failureOf({ act: 'fail' })
    expect(expected.toReport()).toEqual({
      code: 'no_legal_action',
      message: 'none left',
      hint: 'leave one',
      data: { step: 3 },
    })
    const bug = await failureOf({ act: 'bug' })
    expect(bug).toMatchObject({ code: 'training_failed', message: expect.stringContaining('a mistake of ours') })
    expect(bug.data.stack).toContain('probe.process')
  })

  test('what it keeps when it is asked to stop', async () => {
    expect(await supervise({ act: 'stop' }, { stop: AbortSignal.timeout(300) })).toBe('in order')
  })

  test('what it is told while it runs', async () => {
    const received: unknown[] = []
    let send: (message: unknown) => void = () => {}
    const onMessage = (message: unknown) => {
      received.push(message)
      for (const reported of message === 'ready' ? [1, { text: 'two' }, new Float32Array([3]), 'enough'] : [])
        send(reported)
    }
    const onStart = (sender: typeof send) => {
      send = sender
    }
    expect(await supervise({ act: 'answer', text: 'enough' }, { onMessage, onStart })).toBe('enough')
    const answers = [1, { text: 'two' }, new Float32Array([3])].map((answer) => ({ answer }))
    expect(received).toEqual(['ready', ...answers])
    expect(() => send('late'), 'nobody is there any more').not.toThrow()
  })

  test("an error of the supervisor's own message handler", async () => {
    const full = new Error('disk full')
    const onMessage = () => {
      throw full
    }
    await expect(supervise({ act: 'wait' }, { onMessage })).rejects.toBe(full)
  })
})

describe.concurrent('what ends a job', () => {
  test('cancelling, before and after it started', async () => {
    const cancelled = { code: 'training_cancelled' }
    await expect(supervise({ act: 'wait' }, { signal: AbortSignal.abort() })).rejects.toMatchObject(cancelled)
    await expect(supervise({ act: 'wait' }, { signal: AbortSignal.timeout(300) })).rejects.toMatchObject(cancelled)
  })

  test('a guest that stands still', async () => {
    const error = await failureOf({ act: 'wait', guest: true }, { crossingMs: 300, graceMs: 100 })
    expect(error.code).toBe('scenario_timeout')
    expect(error.data).toMatchObject({ scenario: '@t/scenario', phase: 'step', environment: 0, step: 5, limit_ms: 300 })
  })

  test('a main thread that does not answer, with no guest to blame', async () => {
    const error = await failureOf({ act: 'block' }, { silenceMs: 500, startMs: 20_000 })
    expect(error).toMatchObject({ code: 'training_failed', message: expect.stringContaining('0.5 s') })
  })

  test('not a learner that is slow and says so', async () => {
    const limits = { silenceMs: 2_000 }
    expect(await supervise({ act: 'learn', count: 8 }, { limits })).toBe('learned')
  })

  test('a crash: the guest is blamed only where it was running', async () => {
    expect(await failureOf({ act: 'crash', guest: true })).toMatchObject({
      code: 'scenario_crashed',
      data: { phase: 'step', step: 5, signal: 'SIGSEGV' },
    })
    expect(await failureOf({ act: 'crash' })).toMatchObject({ code: 'training_failed', data: { signal: 'SIGSEGV' } })
  })

  test("V8's own words tell that memory ran out", async () => {
    const text = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory'
    expect((await failureOf({ act: 'exit', guest: true, text })).code).toBe('scenario_out_of_memory')
  })

  test('an exit without a result; its output is shown escaped and cut', async () => {
    const error = await failureOf({ act: 'exit', text: `\u001b[31m${'x'.repeat(10_000)}\u202eend` })
    expect(error).toMatchObject({ code: 'training_failed', data: { exit_status: 3 } })
    expect(error.data.output).toMatch(/^x+\\u\{202e\}end\\n$/)
    expect(String(error.data.output).length).toBeLessThanOrEqual(2_048)
  })

  test('more memory than it may use', async () => {
    const limits = { processMemoryMb: 300 }
    const guest = await failureOf({ act: 'allocate', guest: true, count: 600 }, limits)
    expect(guest).toMatchObject({ code: 'scenario_out_of_memory', data: { phase: 'step', limit_mb: 300 } })
    expect((await failureOf({ act: 'allocate', count: 600 }, limits)).code).toBe('training_failed')
  })

  test('messages that make no sense', async () => {
    expect((await failureOf({ act: 'garble' })).code).toBe('training_failed')
  })
})

test('a job sees an empty folder, no environment, no files, no network, and is nobody', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  const text = typeof address === 'object' ? String(address?.port) : ''
  process.env.AGENTGYM_SECRET = 'secret'
  let cwd = ''
  const onMessage = (message: unknown) => {
    cwd = String(message)
    expect(readdirSync(cwd)).toEqual([])
    expect(statSync(cwd).mode & 0o777).toBe(0o700)
  }
  const seen = await supervise({ act: 'surroundings', text }, { onMessage, environment: { OMP_NUM_THREADS: '1' } })
  server.close()
  expect(seen).toMatchObject({
    readable: 'done',
    passwords: 'ERR_ACCESS_DENIED',
    afterwards: 'ERR_ACCESS_DENIED',
    writable: 'ERR_ACCESS_DENIED',
    spawn: 'ERR_ACCESS_DENIED',
  })
  const { environment, uid, root, network } = seen as Record<string, unknown>
  expect(environment).not.toContain('AGENTGYM_SECRET')
  // Bubblewrap names the working folder.
  expect((environment as string[]).filter((name) => !/^(NODE_CHANNEL|PWD$)/.test(name))).toEqual([
    'OMP_NUM_THREADS',
    'TZ',
  ])
  expect(existsSync(cwd), 'the folder is removed').toBe(false)
  // What needs root or Linux is there where the machine allows it; elsewhere the other walls stand.
  if (process.getuid?.() === 0) {
    expect(uid).not.toBe(0)
    expect(root).toBe('EPERM')
    if (!(await machineWalls()).missing.includes('network')) expect(network).not.toBe('connected')
  }
})

test.each(['wait', 'block'])('a job ends with its supervisor, whatever its main thread does: %s', async (act) => {
  const orphan = spawn(process.execPath, [fileURLToPath(new URL('./testing/orphan.ts', import.meta.url)), act])
  await new Promise((resolve) => orphan.stdout.once('data', resolve))
  const pids = descendants(orphan.pid ?? 0)
  expect(pids.filter(isAlive)).not.toEqual([])
  orphan.kill('SIGKILL')
  for (let tries = 0; pids.some(isAlive) && tries < 200; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50))
  expect(pids.filter(isAlive)).toEqual([])
})

test('a process killed at any moment of its start takes all of its job with it', async () => {
  for (let delayMs = 0; delayMs < 40; delayMs += 4) {
    const others = new Set(descendants(process.pid))
    // A process of the job that lived on would hold the job's output open, and this would never settle.
    const failure = failureOf({ act: 'wait' })
    let pid: number | undefined
    while (pid === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      pid = descendants(process.pid).find((found) => !others.has(found))
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    process.kill(pid, 'SIGKILL')
    expect(await failure).toMatchObject({ code: 'training_failed', data: { signal: 'SIGKILL' } })
  }
})

/** The processes below `pid`, as far down as there are any. */
function descendants(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number),
  )
  return children.flatMap((child) => [child, ...descendants(child)])
}

/** A zombie is dead: where process 1 of a container reaps nobody, it stays in the table for good. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
