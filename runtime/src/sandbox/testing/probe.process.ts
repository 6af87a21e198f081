import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import process from 'node:process'
import { AgentGymError } from '@agentgym/contract'
import { BOARD_LENGTH, BOARD_PHASE, BOARD_STEP, phases } from '@agentgym/scenario/engine'
import { BOARD_CROSSING } from '../board.ts'
import { type JobChannel, serveJob } from '../job-process.ts'

export type Probe = {
  act: keyof typeof acts
  /** Shows a guest in its fifth step on the board. */
  guest?: boolean
  text?: string
  count?: number
}

/** A job that does one thing that a job can do, or suffer; for the supervisor's tests. */
serveJob<Probe, unknown>(async (probe, channel) => {
  if (probe.guest === true) showGuest(channel)
  return acts[probe.act](probe, channel)
})

function showGuest(channel: JobChannel): void {
  const board = new Int32Array(new SharedArrayBuffer(BOARD_LENGTH * 4))
  board[BOARD_PHASE] = board[BOARD_CROSSING] = phases.indexOf('step')
  board[BOARD_STEP] = 5
  channel.watchBoard(3, board)
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const attempt = (body: () => unknown): string => {
  try {
    body()
    return 'done'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

const acts = {
  echo: async (probe: Probe) => probe.text,
  async messages({ count = 0 }: Probe, channel: JobChannel) {
    for (let i = 0; i < count; i++) await channel.send({ i, bytes: new Uint8Array(100_000).fill(i) })
    return count
  },
  async fail() {
    throw new AgentGymError({ code: 'no_legal_action', message: 'none left', hint: 'leave one', data: { step: 3 } })
  },
  async bug() {
    throw new TypeError('a mistake of ours')
  },
  async exit(probe: Probe) {
    process.stderr.write(`${probe.text ?? ''}\n`)
    await pause(150)
    process.exit(3)
  },
  async crash() {
    await pause(150)
    process.kill(process.pid, 'SIGSEGV')
    return pause(10_000)
  },
  async wait(_: Probe, channel: JobChannel) {
    await channel.send(process.pid)
    return pause(60_000)
  },
  async stop(_: Probe, channel: JobChannel) {
    while (!channel.stopRequested()) await pause(10)
    return 'in order'
  },
  /** Sends back what it is told, until it is told the text. */
  async answer(probe: Probe, channel: JobChannel) {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    channel.onMessage((message) => {
      if (message === probe.text) resolve(message)
      else void channel.send({ answer: message })
    })
    await channel.send('ready')
    return promise
  },
  async block(_: Probe, channel: JobChannel) {
    await channel.send(process.pid)
    for (;;);
  },
  /** Silent for longer than it may be, but for notes of progress. */
  async learn({ count = 0 }: Probe, channel: JobChannel) {
    for (let i = 0; i < count; i++) {
      const endMs = performance.now() + 300
      while (performance.now() < endMs);
      channel.progress()
      await pause(60)
    }
    return 'learned'
  },
  async allocate({ count = 0 }: Probe) {
    await pause(150)
    const kept: Buffer[] = []
    for (let i = 0; i < count; i++) {
      kept.push(Buffer.alloc(2 ** 20, 1))
      if (i % 10 === 0) await pause(1)
    }
    await pause(10_000)
    return kept.length
  },
  async garble() {
    for (const message of [null, 7, { kind: 'beat', boards: 'none' }, { kind: 'beat', boards: [[0, null]] }]) {
      process.send?.(message)
    }
    return pause(10_000)
  },
  async surroundings(probe: Probe, channel: JobChannel) {
    await channel.send(process.cwd())
    const file = new URL(import.meta.url)
    const readable = attempt(() => readFileSync(file))
    const network = await reach(Number(probe.text))
    channel.lockDown()
    return {
      environment: Object.keys(process.env).sort(),
      readable,
      passwords: attempt(() => readFileSync('/etc/passwd')),
      afterwards: attempt(() => readFileSync(file)),
      writable: attempt(() => writeFileSync('/tmp/agentgym-probe', 'x')),
      spawn: attempt(() => spawnSync('true')),
      root: attempt(() => process.setuid?.(0)),
      uid: process.getuid?.(),
      network,
    }
  },
}

function reach(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .on('connect', () => resolve('connected'))
      .on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
  })
}
