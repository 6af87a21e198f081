import { AgentGymError, episodeMomentSchema, errorReportSchema } from '@agentgym/contract'
import {
  fieldsOf,
  type OpenedFrame,
  type OpenFrame,
  VECTOR_PROTOCOL,
  type VectorLayout,
  vectorLimits,
} from '@agentgym/contract/protocols'
import { z } from 'zod'
import type { HostedSeat } from '../scenario-host.ts'
import type { ServedEnvironment } from '../served-environment.ts'
import type { Lease, Sessions } from '../sessions.ts'
import { terminalPicture } from './terminal-picture.ts'
import type { VectorAsk, VectorSeatOptions } from './vector-seat.ts'

/** Environments of one socket. What they may take together, the sandbox limits by itself. */
const MOST_ENVIRONMENTS = 16_384

/** What comes out of the process, which may have been taken over. */
const answerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('frame'),
    frame: z.instanceof(Uint8Array).refine(({ length }) => length <= vectorLimits.binaryFrame),
  }),
  z.strictObject({ kind: z.literal('picture'), episode: episodeMomentSchema }),
  z.strictObject({ kind: z.literal('refused'), error: errorReportSchema }),
])

/** N environments of one client. */
export class VectorSession {
  readonly opened: OpenedFrame
  readonly #seat: HostedSeat
  readonly #lease: Lease

  private constructor(opened: OpenedFrame, seat: HostedSeat, lease: Lease) {
    this.opened = opened
    this.#seat = seat
    this.#lease = lease
  }

  /**
   * Opens them. `end` is called if the server takes them back. Rejects with `config_invalid`, `capacity_reached` or a fault of the scenario.
   */
  static async open(
    request: OpenFrame,
    { environment, sessions }: { environment: ServedEnvironment; sessions: Sessions },
    end: (why: AgentGymError) => void,
  ): Promise<VectorSession> {
    const { environments, autoreset, split, seed, first_environment: firstEnvironment } = request
    if (environments > MOST_ENVIRONMENTS)
      throw configInvalid('environments', `is ${environments}; at most ${MOST_ENVIRONMENTS}`)
    if (split === 'eval' && firstEnvironment > 0)
      throw configInvalid('first_environment', `is ${firstEnvironment}; held-out episodes are played by one connection`)
    const { description, package: scenario, host } = environment
    const { observation, action, maxSteps, sizes, masked } = description
    const fields = { observation: fieldsOf(observation, 'obs'), action: fieldsOf(action, 'action') }
    const layout: VectorLayout = { environments, autoreset, fields, mask: masked ? sizes.mask : 0 }
    // One isolate, as that of any other session, however many environments it steps.
    const lease = sessions.lease(1, end)
    try {
      const view = scenario.agentgym.view ?? null
      const options: VectorSeatOptions = { layout, split, seed, firstEnvironment, view }
      const seat = await host.open('vector', options)
      const opened: OpenedFrame = {
        type: 'opened',
        protocol: VECTOR_PROTOCOL,
        name: scenario.name,
        version: scenario.version,
        hash: host.scenario.hash,
        ...layout,
        spaces: { observation, action },
        max_steps: maxSteps,
        // The sandbox keeps what one environment looked like at the end of its episode.
        render_modes: environments === 1 ? ['ansi'] : [],
      }
      return new VectorSession(opened, seat, lease)
    } catch (error) {
      lease.release()
      throw error
    }
  }

  /** Answers a binary frame. Rejects with `request_invalid` for one that changed nothing; with anything else the environments are gone. */
  async answer(frame: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#ask(frame)
    if (answer.kind === 'frame') return answer.frame
    throw new Error(`the process answered a frame with a ${answer.kind}`)
  }

  /** What a terminal would show of the only environment. Rejects as `answer`. */
  async render(): Promise<string> {
    const answer = await this.#ask('picture')
    if (answer.kind === 'picture') return terminalPicture(answer.episode)
    throw new Error(`the process answered a request for a picture with a ${answer.kind}`)
  }

  async #ask(request: VectorAsk) {
    this.#lease.touch()
    const answer = answerSchema.parse(await this.#seat.ask(request))
    this.#lease.touch()
    if (answer.kind === 'refused') throw new AgentGymError(answer.error)
    return answer
  }

  async end(): Promise<void> {
    this.#lease.release()
    await this.#seat.close()
  }
}

function configInvalid(field: string, what: string): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message: `${field} ${what}.`, data: { field } })
}
