import assert from 'node:assert'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { parentPort } from 'node:worker_threads'
import type { SpaceDescription } from '@agentgym/contract'
import {
  type Autoreset,
  decodeRequest,
  encodeReply,
  fieldsOf,
  openFrameSchema,
  VECTOR_PATH,
  VECTOR_PROTOCOL,
  type VectorLayout,
  type VectorReply,
} from '@agentgym/contract/protocols'
import { type WebSocket, WebSocketServer } from 'ws'
import { type Fault, WALK_STEPS, type WalkOptions } from './walk-server.ts'

const seen: number[] = []

class Walk {
  start = 0
  position = 0
  steps = 0
  ended = true
  readonly #actions: number
  #seed = 0

  constructor(actions: number) {
    this.#actions = actions
  }

  /** A seed begins a sequence of episodes, as it does in Gymnasium. */
  begin(seed: number | null): void {
    if (seed !== null) this.#seed = seed
    // A linear congruential generator is random enough to tell episodes apart.
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0
    this.start = (this.#seed >>> 16) / 2 ** 16
    this.position = 0
    this.steps = 0
    this.ended = false
  }

  act(action: number): { reward: number; terminated: boolean; truncated: boolean } {
    this.position += action - 1
    this.steps += 1
    const terminated = Math.abs(this.position) === 3
    const truncated = this.steps === WALK_STEPS
    this.ended = terminated || truncated
    return { reward: action - 1 - this.start / 16, terminated, truncated }
  }

  observation(): number[] {
    return [this.start, this.steps, this.position]
  }

  mask(): number[] {
    return Array.from({ length: this.#actions }, (_, action) =>
      this.ended || action !== 0 || this.steps % 2 === 0 ? 1 : 0,
    )
  }
}

class Connection {
  readonly #socket: WebSocket
  readonly #walks: Walk[]
  readonly #layout: VectorLayout
  readonly #autoreset: Autoreset
  readonly #seed: number
  readonly #fault: Fault | undefined

  constructor(socket: WebSocket, text: string) {
    const open = openFrameSchema.parse(JSON.parse(text))
    const { autoreset: forced, fault, masked, actions = 3 } = JSON.parse(open.scenario ?? '{}') as WalkOptions
    const unbounded = [null, null, null]
    const observation: SpaceDescription = { type: 'box', shape: [3], low: unbounded, high: unbounded }
    const action: SpaceDescription = { type: 'discrete', n: actions, start: 0 }
    const choice = fault?.kind === 'index-out-of-range'
    const observed: SpaceDescription = choice ? { type: 'multiDiscrete', nvec: [2, 100, 100] } : observation
    const fields = { observation: fieldsOf(observed, 'obs'), action: fieldsOf(action, 'action') }
    this.#socket = socket
    this.#fault = fault
    this.#seed = open.seed + open.first_environment
    this.#walks = Array.from({ length: open.environments }, () => new Walk(actions))
    this.#autoreset = forced ?? open.autoreset
    this.#layout = { environments: open.environments, autoreset: this.#autoreset, fields, mask: masked ? actions : 0 }
    socket.send(
      JSON.stringify({
        ...{ type: 'opened', protocol: VECTOR_PROTOCOL, name: 'walk', version: '1.2.0', hash: null },
        ...{ environments: open.environments, autoreset: this.#autoreset, max_steps: WALK_STEPS, render_modes: [] },
        ...{ spaces: { observation: observed, action }, fields, mask: this.#layout.mask },
      }),
    )
  }

  answer(frame: Uint8Array): void {
    const request = decodeRequest(this.#layout, frame)
    const count = this.#walks.length
    const masked = this.#layout.mask > 0
    const rewards = new Float64Array(count)
    const terminated = new Uint8Array(count)
    const truncated = new Uint8Array(count)
    const final: number[] = []
    if (request.operation === 'reset') {
      this.#walks.forEach((walk, i) => {
        if (request.mask[i] === 1) this.#begin(walk, i, Number(request.seeds[i]))
      })
    } else {
      const chosen = request.actions[0] as Int32Array
      this.#walks.forEach((walk, i) => {
        if (walk.ended) {
          assert(this.#autoreset === 'next_step', 'an episode is over and was not reset')
          this.#begin(walk, i, -1)
          return
        }
        assert(!masked || walk.mask()[chosen[i]] === 1, 'an illegal action')
        const result = walk.act(chosen[i])
        rewards[i] = result.reward
        terminated[i] = Number(result.terminated)
        truncated[i] = Number(result.truncated)
        if (!walk.ended || this.#autoreset !== 'same_step') return
        final.push(...walk.observation())
        this.#begin(walk, i, -1)
      })
    }
    const Row = this.#layout.fields.observation[0].dtype === 'int32' ? Int32Array : Float32Array
    const reply = {
      request: request.request,
      observations: [Row.from(this.#walks.flatMap((walk) => walk.observation()))],
      ...{ rewards, terminated, truncated },
      masks: masked ? Uint8Array.from(this.#walks.flatMap((walk) => walk.mask())) : null,
      final: this.#autoreset === 'same_step' ? [Row.from(final)] : [],
      metrics: { names: [], values: new Float64Array(0) },
    }
    const fault = request.operation === 'step' ? this.#fault : undefined
    const failing = fault !== undefined && this.#walks[fault.environment]?.steps === fault.step
    const answer = failing ? this.#broken(fault, reply) : encodeReply(this.#layout, reply)
    if (answer !== null) this.#socket.send(answer)
  }

  #begin(walk: Walk, i: number, seed: number): void {
    if (seed >= 0) seen.push(seed)
    walk.begin(seed >= 0 ? seed : walk.steps === 0 && walk.start === 0 ? this.#seed + i : null)
  }

  /** Instead of the right frame; null: none. */
  #broken({ kind, environment: i }: Fault, reply: VectorReply): Uint8Array | string | null {
    const observations = reply.observations[0] as Float32Array
    const whole = () => encodeReply(this.#layout, reply)
    switch (kind) {
      case 'nan-reward':
        reply.rewards[i] = Number.NaN
        return whole()
      case 'nan-observation':
        observations[i * 3 + 1] = Number.POSITIVE_INFINITY
        return whole()
      case 'nan-final-observation':
        reply.truncated[i] = 1
        reply.final = [Float32Array.of(0, Number.NaN, 0)]
        return whole()
      case 'no-legal-action':
        reply.masks?.fill(0, i * this.#layout.mask, (i + 1) * this.#layout.mask)
        return whole()
      case 'strange-mask':
        reply.masks?.fill(7)
        return whole()
      case 'index-out-of-range':
        observations[i * 3] = 2
        return whole()
      case 'short-frame':
        return whole().subarray(0, -8)
      case 'garbage':
        return new Uint8Array(64).fill(255)
      case 'text':
        return '{"type":"hello"}'
      case 'wrong-request':
        reply.request += 1
        return whole()
      case 'hang':
        return null
      case 'close':
        this.#socket.close(1011, 'out of\u001b[31m memory')
        return null
      case 'die':
        // The thread is the server: its sockets end without a closing frame.
        return process.exit(1)
      case 'report': {
        const error = { code: 'sensor_lost', message: 'the sensor is gone.', data: { environment: i, step: 4 } }
        return JSON.stringify({ type: 'error', request: reply.request, fatal: true, error })
      }
    }
  }
}

const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: VECTOR_PATH, perMessageDeflate: false })
server.on('connection', (socket) => {
  let connection: Connection | null = null
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) connection?.answer(new Uint8Array(data))
    else connection = new Connection(socket, data.toString())
  })
})
server.on('listening', () => {
  const { port } = server.address() as AddressInfo
  parentPort?.postMessage(`ws://127.0.0.1:${port}${VECTOR_PATH}`)
})
parentPort?.on('message', () => parentPort?.postMessage(seen.splice(0)))
