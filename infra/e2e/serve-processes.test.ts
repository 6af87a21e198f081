// @module-tag full
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { runCliProcess } from '@agentgym/testkit/command-line'
import { createPostgresqlDatabase } from '@agentgym/testkit/postgresql'
import { afterAll, expect, it } from 'vitest'
import { parseExposition } from '../../registry/src/app/testing/parse-exposition.ts'
import { repositoryRoot } from '../checks/repository-files.ts'

type LogLine = { message: string; process?: number; signal?: string; path?: string }

const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-processes-'))
const started: ChildProcess[] = []
afterAll(() => {
  for (const { pid } of started) killGroup(pid as number, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** `agentgym serve --processes 2` as a shell starts it: in a process group of its own, which Ctrl-C reaches as a whole. */
async function startTwo() {
  const words = ['serve', '--processes', '2', '--port', '0', '--data', folder, '--json']
  const { AGENTGYM_PROCESSES, ...inherited } = process.env
  const environment = {
    DATABASE_URL: await createPostgresqlDatabase(),
    AGENTGYM_HOME: folder,
    AGENTGYM_LOG_LEVEL: 'info',
  }
  const child = spawn(path.join(repositoryRoot, 'agentgym'), words, {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  started.push(child)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    stdout += more
  })
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    stderr += more
  })
  const ended = once(child, 'close')
  await until(() => stdout.includes('\n') || child.exitCode !== null)
  const [line] = stdout.split('\n')
  expect(line, stderr).toContain('serving')
  return {
    pid: child.pid as number,
    said: JSON.parse(line) as { url: string },
    stdout: () => stdout,
    log: () =>
      stderr
        .split('\n')
        .slice(0, -1)
        .map((each) => JSON.parse(each) as LogLine),
    status: ended.then(([status]) => status as number | null),
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

/** Ended processes may stay in the process list if no init process reaps orphans (as in containers). */
const lives = (pid: number) => {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return status[status.lastIndexOf(')') + 2] !== 'Z'
  } catch {
    return false
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20)
}

/** On a connection of its own, which is what processes take in turn. Rejects where it is broken off. */
async function get(url: string): Promise<{ status: number | undefined; body: string }> {
  const requested = request(url, { agent: false, timeout: 5_000 })
  requested.on('timeout', () => requested.destroy(new Error('no answer')))
  const [answer] = (await once(requested.end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}

async function scrape(url: string): Promise<(name: string, labels?: Record<string, string>) => number | undefined> {
  const { status, body } = await get(`${url}/metrics`)
  expect(status, body).toBe(200)
  const samples = [...parseExposition(body).values()].flatMap((family) => family.samples)
  return (name, labels = {}) =>
    samples.find(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )?.value
}

/** A log-in of which the server has the head and not yet the body. */
async function beginLogIn(url: string): Promise<ClientRequest> {
  const body = JSON.stringify({ username: 'nobody', password: 'correct horse battery' })
  const headers = { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' }
  const requested = request(`${url}/v1/sessions`, { method: 'POST', agent: false, headers })
  requested.flushHeaders()
  await once(requested, 'continue')
  requested.write(body.slice(0, 10))
  return Object.assign(requested, { rest: body.slice(10) })
}

async function endLogIn(requested: ClientRequest): Promise<number | undefined> {
  const answered = once(requested, 'response') as Promise<[IncomingMessage]>
  requested.end((requested as ClientRequest & { rest: string }).rest)
  const [answer] = await answered
  answer.resume()
  return answer.statusCode
}

it('two processes share a port, survive each other, report common metrics, and drain', async () => {
  const server = await startTwo()
  const { url } = server.said
  expect(server.said).toMatchObject({ event: 'serving', npm: `${url}/npm/`, worker: false, processes: 2 })

  await Promise.all(Array.from({ length: 30 }, (_, index) => get(`${url}/v1/nothing/${index}`)))
  const unmatched = { method: 'GET', route: 'unmatched', status: '404' }
  for (let reader = 0; reader < 4; reader++) {
    const value = await scrape(url)
    expect(value('agentgym_processes_scraped')).toBe(2)
    expect(value('http_requests_total', unmatched)).toBe(30)
    expect(value('http_request_duration_seconds_count', unmatched)).toBe(30)
    expect(value('agentgym_build_info')).toBe(1)
    expect(value('db_up')).toBe(1)
  }
  const answeredBy = server.log().filter((line) => line.path?.startsWith('/v1/nothing/'))
  expect(answeredBy).toHaveLength(30)
  // How many each answers depends on which is free: on a busy machine one may take most of them.
  expect(new Set(answeredBy.map((line) => line.process))).toEqual(new Set([1, 2]))

  // One is killed while others ask on fresh connections: of those it had at that moment each asker has one at most.
  let [answered, failed, over] = [0, 0, false]
  const askers = Array.from({ length: 4 }, async () => {
    while (!over) {
      const ok = await get(`${url}/v1/nothing/else`).then(
        ({ status }) => status === 404,
        () => false,
      )
      if (ok) answered++
      else failed++
      await delay(20)
    }
  })
  await until(() => answered > 20)
  await scrape(url)
  const before = answered
  const [victim] = childrenOf(server.pid)
  process.kill(victim, 'SIGKILL')
  await until(() => server.log().filter(({ message }) => message === 'serving').length === 3)
  over = true
  await Promise.all(askers)
  expect(failed).toBeLessThanOrEqual(4)
  expect(answered - before).toBeGreaterThan(20)
  expect(server.log()).toContainEqual(expect.objectContaining({ message: 'process_ended', signal: 'SIGKILL' }))
  const value = await scrape(url)
  expect(value('agentgym_processes_scraped')).toBe(2)
  // What the killed one had told is not forgotten.
  expect(value('http_requests_total', unmatched)).toBeGreaterThanOrEqual(30 + before)

  // With both of them the port that was found free is given back: those that follow take the same one again.
  for (const pid of childrenOf(server.pid)) process.kill(pid, 'SIGKILL')
  await until(() => server.log().filter(({ message }) => message === 'serving').length === 5)
  expect((await get(`${url}/readyz`)).status).toBe(200)
  expect((await scrape(url))('agentgym_processes_scraped')).toBe(2)

  const underWay = await beginLogIn(url)
  killGroup(server.pid, 'SIGTERM')
  await until(() =>
    get(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  expect(await endLogIn(underWay)).toBe(401)
  expect(await server.status).toBe(0)
  const stopped = server.log().filter(({ message }) => message === 'stopped')
  expect(stopped.map(({ process }) => process).toSorted()).toEqual([1, 2])
  expect(server.stdout().trim().split('\n')).toHaveLength(1)
})

it('a hanging process is replaced, and one that hangs during shutdown is killed', async () => {
  const server = await startTwo()
  const { url } = server.said
  await scrape(url)
  const [victim] = childrenOf(server.pid)
  process.kill(victim, 'SIGSTOP')
  // The other one serves: of connections that are distributed in turn, the stopped one gets one.
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      get(`${url}/v1/nothing`).then(
        ({ status }) => status,
        () => undefined,
      ),
    ),
  )
  expect(answers.filter((status) => status === 404).length).toBeGreaterThanOrEqual(9)
  await until(() => server.log().some(({ message }) => message === 'process_hung'))
  await until(() => server.log().filter(({ message }) => message === 'serving').length === 3)
  expect(server.log()).toContainEqual(expect.objectContaining({ message: 'process_ended', signal: 'SIGKILL' }))
  expect(lives(victim)).toBe(false)
  expect((await scrape(url))('agentgym_processes_scraped')).toBe(2)

  process.kill(childrenOf(server.pid)[0], 'SIGSTOP')
  process.kill(server.pid, 'SIGTERM')
  expect(await server.status).toBe(0)
  expect(server.log().filter(({ message }) => message === 'stopped')).toHaveLength(1)
})

it('processes whose supervisor was killed finish active requests, and end', async () => {
  const server = await startTwo()
  const pids = childrenOf(server.pid)
  expect(pids).toHaveLength(2)
  const underWay = await beginLogIn(server.said.url)
  process.kill(server.pid, 'SIGKILL')
  await until(() => !pids.every(lives))
  // The one with the request waits for it.
  expect(pids.filter(lives)).toHaveLength(1)
  expect(await endLogIn(underWay)).toBe(401)
  await until(() => !pids.some(lives))
})

it('an error that prevents the start is reported once', async () => {
  const environment = {
    DATABASE_URL: 'postgresql://agentgym@127.0.0.1:9/agentgym',
    AGENTGYM_DATABASE_WAIT_SECONDS: '0',
    AGENTGYM_HOME: folder,
  }
  const words = ['serve', '--port', '0', '--data', folder, '--json']
  const [alone, two] = await Promise.all([
    runCliProcess(words, { environment }),
    runCliProcess([...words, '--processes', '2'], { environment }),
  ])
  expect(alone.lines).toEqual([{ error: expect.objectContaining({ code: 'database_unavailable' }) }])
  expect({ status: two.status, lines: two.lines, stderr: two.stderr }).toEqual({
    status: alone.status,
    lines: alone.lines,
    stderr: '',
  })
})

it('the embedded database is for one process', async () => {
  const environment = { DATABASE_URL: '', AGENTGYM_HOME: folder, AGENTGYM_PROCESSES: '2' }
  const { status, lines } = await runCliProcess(['serve', '--port', '0', '--data', folder, '--json'], { environment })
  expect(status).toBe(2)
  expect(lines).toEqual([
    { error: expect.objectContaining({ code: 'config_invalid', data: { field: 'AGENTGYM_PROCESSES' } }) },
  ])
})
