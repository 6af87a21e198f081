import { isDeepStrictEqual } from 'node:util'
import { AgentGymError, parseJson } from '@agentgym/contract'
import {
  decodeReply,
  encodeReset,
  encodeStep,
  type OpenedFrame,
  type OpenRequest,
  VECTOR_PROTOCOL,
  type VectorReply,
  vectorAnswerSchema,
} from '@agentgym/contract/protocols'
import { TERMINATED, TRUNCATED } from '@agentgym/scenario/engine'
import type { ScenarioIdentity } from '../sandbox/vector-environment.ts'
import type { EnvironmentSession, SessionOptions } from './environment-session.ts'
import { externalError } from './external-failure.ts'
import type { ExternalEndpoint } from './external-source.ts'
import { MetricColumns } from './metric-columns.ts'
import { ProcessSocket } from './process-socket.ts'
import { RowCodec } from './row-codec.ts'
import { describeSpaces } from './space-sizes.ts'

type VectorEndpoint = Extract<ExternalEndpoint, { protocol: 'vector' }>

/** Opens a vector of environments. Rejects with `environment_unreachable`, `environment_invalid` or the server's error. */
export async function openVector(
  socket: ProcessSocket,
  identity: ScenarioIdentity,
  request: Omit<OpenRequest, 'type' | 'protocol'>,
): Promise<OpenedFrame> {
  const answer = await socket.request(JSON.stringify({ type: 'open', protocol: VECTOR_PROTOCOL, ...request }))
  const parsed = vectorAnswerSchema.safeParse(typeof answer === 'string' ? parseJson(answer) : undefined)
  if (!parsed.success) {
    const what = 'its server does not speak the vector protocol: it did not answer with `opened`'
    throw externalError(identity, { code: 'environment_invalid', what, hint: 'docs/vector-protocol.md specifies it.' })
  }
  if (parsed.data.type === 'error') throw serverError(identity, parsed.data.error)
  if (parsed.data.type !== 'opened' || parsed.data.environments !== request.environments) {
    const what = 'its server answered `open` with something else'
    throw externalError(identity, { code: 'environment_invalid', what })
  }
  return parsed.data
}

/** The server's own report, as the error of an environment of this name. */
function serverError(
  identity: ScenarioIdentity,
  report: ConstructorParameters<typeof AgentGymError>[0],
): AgentGymError {
  const { code, message, hint, data } = report
  const what = message.replace(/\.$/, '')
  return externalError(identity, { code, what, hint, data })
}

/** N environments over one socket of the vector protocol, whichever convention of autoreset its server has. */
export class VectorSession implements EnvironmentSession {
  readonly #socket: ProcessSocket
  readonly #options: SessionOptions
  readonly #opened: OpenedFrame
  readonly #codec: RowCodec
  readonly #metrics = new MetricColumns()
  #request = 0

  private constructor(socket: ProcessSocket, options: SessionOptions, opened: OpenedFrame) {
    this.#socket = socket
    this.#options = options
    this.#opened = opened
    this.#codec = new RowCodec(options.source.identity, opened.spaces, opened.fields)
  }

  static async open(options: SessionOptions, endpoint: VectorEndpoint): Promise<VectorSession> {
    const { source, environments, firstEnvironment, seed, split, continuous } = options
    const { scenario } = endpoint
    const socket = await ProcessSocket.connect(endpoint, source.identity, source.timeoutMs)
    try {
      const opened = await openVector(socket, source.identity, {
        ...(scenario === undefined ? {} : { scenario }),
        ...{ environments, seed, split, first_environment: firstEnvironment },
        autoreset: continuous ? 'same_step' : 'disabled',
      })
      assertSameSpaces(source, opened)
      return new VectorSession(socket, options, opened)
    } catch (error) {
      socket.close()
      throw error
    }
  }

  async reset(mask: Uint8Array, seeds: readonly number[]): Promise<void> {
    const { buffers } = this.#options
    const numbers = BigInt64Array.from(seeds, BigInt)
    const reply = await this.#ask(encodeReset({ request: this.#next(), mask, seeds: numbers }))
    this.#codec.writeObservations(reply.observations, buffers.observations, mask)
    this.#writeMasks(reply, mask)
  }

  async step(): Promise<void> {
    const { buffers, environments, continuous } = this.#options
    const { autoreset } = this.#opened
    const actions = this.#codec.readActions(buffers.actions, environments)
    const reply = await this.#ask(encodeStep(this.#opened, { request: this.#next(), actions }))
    buffers.rewards.set(reply.rewards)
    const ended = new Uint8Array(environments)
    for (let row = 0; row < environments; row++) {
      buffers.flags[row] = (reply.terminated[row] === 1 ? TERMINATED : 0) | (reply.truncated[row] === 1 ? TRUNCATED : 0)
      if (buffers.flags[row] !== 0) ended[row] = 1
    }
    this.#codec.writeObservations(reply.observations, buffers.observations)
    this.#writeMasks(reply)
    if (!ended.includes(1)) return
    this.#metrics.write(reply.metrics, ended, buffers.metrics)
    if (autoreset === 'same_step') this.#codec.writeFinal(reply.final, buffers.finalObservations, ended)
    else this.#codec.writeObservations(reply.observations, buffers.finalObservations, ended)
    // A server that begins the next episode later, or not at all: a reset replaces whatever it was about to do.
    if (continuous && autoreset !== 'same_step') await this.reset(ended, new Array(environments).fill(-1))
  }

  metricNames(): string[] {
    return this.#metrics.names
  }

  close(): void {
    this.#socket.close()
  }

  #writeMasks({ masks }: VectorReply, rows?: Uint8Array): void {
    const { buffers, environments } = this.#options
    if (masks === null) return
    if (rows === undefined) {
      buffers.masks.set(masks)
      return
    }
    const width = masks.length / environments
    rows.forEach((wanted, row) => {
      if (wanted === 1) buffers.masks.set(masks.subarray(row * width, (row + 1) * width), row * width)
    })
  }

  #next(): number {
    this.#request = (this.#request + 1) >>> 0
    return this.#request
  }

  async #ask(frame: Uint8Array): Promise<VectorReply> {
    const { identity } = this.#options.source
    const answer = await this.#socket.request(frame as Uint8Array<ArrayBuffer>)
    if (typeof answer !== 'string') return this.#decode(answer)
    const parsed = vectorAnswerSchema.safeParse(parseJson(answer))
    if (parsed.success && parsed.data.type === 'error') throw serverError(identity, parsed.data.error)
    throw externalError(identity, { code: 'environment_invalid', what: 'its server answered a step with text' })
  }

  #decode(answer: Uint8Array): VectorReply {
    const { identity } = this.#options.source
    try {
      const reply = decodeReply(this.#opened, answer)
      if (reply.request === this.#request) return reply
    } catch (error) {
      if (!(error instanceof AgentGymError)) throw error
      throw externalError(identity, { code: 'environment_invalid', what: error.message.replace(/\.$/, '') })
    }
    throw externalError(identity, { code: 'environment_invalid', what: 'its server answered another request' })
  }
}

function assertSameSpaces({ identity, description }: SessionOptions['source'], opened: OpenedFrame): void {
  const now = describeSpaces(identity, opened.spaces, { maxSteps: opened.max_steps, masked: opened.mask > 0 })
  if (isDeepStrictEqual(now, description)) return
  const what = 'its spaces or its time limit are others than when the run began'
  throw externalError(identity, { code: 'environment_invalid', what, hint: 'Start the run again on one environment.' })
}
