import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Line, openLine } from '@agentgym/testkit/line'
import { freePorts } from '@agentgym/testkit/ports'
import { runPostgresql, startPostgresql, stopPostgresql } from '@agentgym/testkit/postgresql-server'
import { runFolder } from '@agentgym/testkit/run-folder'
import { startS3, type TestS3 } from '@agentgym/testkit/s3'
import type { Fault } from './faults.ts'

const haproxyBinary = '/usr/sbin/haproxy'
/** Lets a test set a process's clock; without it, clocks do not jump. */
const [faketime] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')
const durable = ['fsync=on', 'synchronous_commit=on']
const processes = join(import.meta.dirname, '../../../testkit/src')

/** Why chaos cannot be made here; null if it can. */
export const noChaos: string | null = existsSync(haproxyBinary) ? null : 'apt-get install haproxy'
export const hasClocks: boolean = faketime !== undefined

export type Installation = {
  /** HAProxy's. */
  url: string
  databaseUrl: string
  startWorkers(token: string): void
  /** Makes it, waits for as long as it lasts, and mends it. */
  suffer(fault: Fault): Promise<void>
  log(): string
  close(): Promise<void>
}

/** Starts a process again whenever it has ended, as a service manager does. */
class Service {
  #child: ChildProcess | undefined
  readonly #start: () => ChildProcess
  readonly #timer: NodeJS.Timeout

  constructor(start: () => ChildProcess) {
    this.#start = start
    this.#child = start()
    this.#timer = setInterval(() => {
      if (hasEnded(this.#child)) this.#child = this.#start()
    }, 1_000)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async freeze(lastsMs: number): Promise<void> {
    const frozen = this.#child
    frozen?.kill('SIGSTOP')
    await delay(lastsMs)
    frozen?.kill('SIGCONT')
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    const child = this.#child
    if (child === undefined || hasEnded(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

type Replica = { service: Service; toDatabase: Line; toBucket: Line; setClock(skewSeconds: number): void }
type Shared = { folder: string; url: string; postgresql: string; bucket: TestS3['address']; record: Record }
type Record = (who: string, child: ChildProcess) => ChildProcess

async function openReplica(shared: Shared, port: number): Promise<Replica> {
  const { folder, url, postgresql, bucket, record } = shared
  const toDatabase = await openLine({ path: join(postgresql, '.s.PGSQL.5432') })
  const toBucket = await openLine({ host: '127.0.0.1', port: Number(new URL(bucket.endpoint).port) })
  const data = join(folder, `server-${port}`)
  mkdirSync(data)
  const clock = join(folder, `clock-${port}`)
  const setClock = (skewSeconds: number) => writeFileSync(clock, `${skewSeconds < 0 ? '' : '+'}${skewSeconds}\n`)
  setClock(0)
  const ownClock = {
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    AGENTGYM_LOG_LEVEL: 'error',
    AGENTGYM_PUBLIC_URL: url,
    DATABASE_URL: `postgresql://agentgym@127.0.0.1:${toDatabase.port}/postgres`,
    AGENTGYM_S3_BUCKET: bucket.bucket,
    AGENTGYM_S3_ENDPOINT: `http://127.0.0.1:${toBucket.port}`,
    AWS_ACCESS_KEY_ID: bucket.credentials?.accessKeyId,
    AWS_SECRET_ACCESS_KEY: bucket.credentials?.secretAccessKey,
    ...(faketime === undefined ? {} : ownClock),
  }
  const words = [data, String(port)]
  const start = () => record(`server ${port}`, fork(join(processes, 'server.process.ts'), words, { env, silent: true }))
  return { service: new Service(start), toDatabase, toBucket, setClock }
}

/** Two replicas behind HAProxy and two workers, on a PostgreSQL and a bucket, each behind lines of its own. */
export async function openInstallation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-chaos-'))
  const postgresql = join(runFolder(), 'postgresql-of-chaos')
  const databaseUrl = await startPostgresql(postgresql, durable)
  const s3 = await startS3()
  const lines: string[] = []
  const record: Record = (who, child) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        lines.push(`${who}: ${text.trim().slice(0, 500)}`)
        if (lines.length > 300) lines.shift()
      })
    return child
  }
  const ports = await freePorts(3)
  const url = `http://127.0.0.1:${ports[2]}`
  const shared = { folder, url, postgresql, bucket: s3.address, record }
  const replicas = await Promise.all([openReplica(shared, ports[0]), openReplica(shared, ports[1])])
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(config, haproxyConfig(ports))
  const haproxy = new Service(() => record('haproxy', spawn(haproxyBinary, ['-db', '-f', config])))
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok) await delay(200)
  const workers: Service[] = []
  return {
    url,
    databaseUrl,
    startWorkers: (token) => {
      const words = ['--no-node-snapshot', join(processes, 'worker.process.ts'), url, token]
      for (const index of [0, 1])
        workers.push(new Service(() => record(`worker ${index}`, spawn(process.execPath, words))))
    },
    suffer: (fault) =>
      suffer(fault, { replica: replicas[fault.target], worker: workers[fault.target], s3, postgresql }),
    log: () => lines.join('\n'),
    close: async () => {
      for (const service of [...workers, ...replicas.map(({ service }) => service), haproxy]) await service.close()
      await Promise.all(replicas.flatMap(({ toDatabase, toBucket }) => [toDatabase.close(), toBucket.close()]))
      await s3.stop()
      await stopPostgresql(postgresql)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Victims = { replica: Replica; worker: Service | undefined; s3: TestS3; postgresql: string }

async function suffer({ kind, lastsMs, skewSeconds }: Fault, { replica, worker, s3, postgresql }: Victims) {
  switch (kind) {
    case 'kill-server':
      return replica.service.signal('SIGKILL')
    case 'stop-server':
      return replica.service.freeze(lastsMs)
    case 'kill-worker':
      return worker?.signal('SIGKILL')
    case 'stop-worker':
      return worker?.freeze(lastsMs)
    case 'cut-database':
      return cut(replica.toDatabase, 'closed', lastsMs)
    case 'silence-database':
      return cut(replica.toDatabase, 'silent', lastsMs)
    case 'cut-bucket':
      return cut(replica.toBucket, 'closed', lastsMs)
    case 'stop-bucket':
      await s3.pause()
      await delay(lastsMs)
      return s3.resume()
    case 'crash-database':
      await stopPostgresql(postgresql)
      await delay(lastsMs)
      return runPostgresql(postgresql, durable)
    case 'jump-clock':
      return replica.setClock(skewSeconds)
  }
}

async function cut(line: Line, state: 'closed' | 'silent', lastsMs: number): Promise<void> {
  line.set(state)
  await delay(lastsMs)
  // What was sent over a silent line is lost, so its connections are, too.
  line.set('closed')
  line.set('works')
}

const hasEnded = (child: ChildProcess | undefined) =>
  child === undefined || child.exitCode !== null || child.signalCode !== null || child.pid === undefined

function haproxyConfig([first, second, front]: number[]): string {
  return `
defaults
  mode http
  timeout connect 2s
  timeout client 75s
  timeout server 40s
  timeout check 5s
frontend gym
  bind 127.0.0.1:${front}
  default_backend agentgym
backend agentgym
  option redispatch
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host 127.0.0.1:${front}
  server one 127.0.0.1:${first} check inter 2s fall 2 rise 1
  server two 127.0.0.1:${second} check inter 2s fall 2 rise 1
`
}

/** Held together, so that they differ. */
