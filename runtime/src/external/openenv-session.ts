import {
  type ActionDecoder,
  actionDecoder,
  type ObservationEncoder,
  observationEncoder,
  Problem,
  TERMINATED,
  TRUNCATED,
} from '@agentgym/scenario/engine'
import { z } from 'zod'
import type { EnvironmentSession, SessionOptions } from './environment-session.ts'
import { externalError } from './external-failure.ts'
import type { ExternalEndpoint, OpenEnvMapping } from './external-source.ts'
import { legalActions, type OpenEnvObservation, openEnvRequest } from './openenv-mapping.ts'
import { ProcessSocket } from './process-socket.ts'

type OpenEnvEndpoint = Extract<ExternalEndpoint, { protocol: 'openenv' }>

/** N environments of an OpenEnv server, a socket each: they step side by side as far as the server lets them. */
export class OpenEnvSession implements EnvironmentSession {
  readonly #sockets: ProcessSocket[]
  readonly #options: SessionOptions
  readonly #mapping: OpenEnvMapping
  readonly #encode: ObservationEncoder
  readonly #decode: ActionDecoder

  private constructor(sockets: ProcessSocket[], options: SessionOptions, mapping: OpenEnvMapping) {
    const { observation, action } = options.source.description
    this.#sockets = sockets
    this.#options = options
    this.#mapping = mapping
    this.#encode = observationEncoder(observation)
    this.#decode = actionDecoder(action)
  }

  static async open(options: SessionOptions, { url, mapping, key }: OpenEnvEndpoint): Promise<OpenEnvSession> {
    const { source, environments } = options
    const connecting = Array.from({ length: environments }, () =>
      ProcessSocket.connect({ url: `${url}/ws`, key }, source.identity, source.timeoutMs),
    )
    const connected = await Promise.allSettled(connecting)
    const failed = connected.find((result) => result.status === 'rejected')
    const sockets = connected.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    if (failed === undefined) return new OpenEnvSession(sockets, options, mapping)
    for (const socket of sockets) socket.close()
    throw failed.reason
  }

  async reset(mask: Uint8Array, seeds: readonly number[]): Promise<void> {
    await Promise.all(this.#sockets.map((_, row) => (mask[row] === 1 ? this.#resetRow(row, seeds[row]) : undefined)))
  }

  async step(): Promise<void> {
    await Promise.all(this.#sockets.map((_, row) => this.#stepRow(row)))
  }

  /** OpenEnv has none. */
  metricNames(): string[] {
    return []
  }

  close(): void {
    for (const socket of this.#sockets) socket.close()
  }

  async #resetRow(row: number, seed: number): Promise<void> {
    const { source, firstEnvironment, buffers } = this.#options
    // A sequence of its own is the server's where no seed is given; the first episode begins it.
    const given = seed >= 0 ? seed : this.#options.seed + firstEnvironment + row
    const answer = await openEnvRequest(this.#sockets[row], source.identity, 'reset', { seed: given }, row)
    this.#write(answer, buffers.observations, row)
  }

  async #stepRow(row: number): Promise<void> {
    const { source, buffers, continuous } = this.#options
    const { action } = source.description.sizes
    const chosen = this.#decode(buffers.actions, row * action)
    const data = actionJson(this.#mapping.action, chosen)
    const answer = await openEnvRequest(this.#sockets[row], source.identity, 'step', data, row)
    const { reward = null } = answer
    if (reward === null) {
      const what = 'a step has no reward'
      const hint = 'Give every step a reward: 0 where nothing was earned.'
      throw externalError(source.identity, { code: 'reward_not_finite', what, hint, data: { row } })
    }
    buffers.rewards[row] = Number(reward)
    buffers.flags[row] = flagsOf(answer)
    this.#write(answer, buffers.observations, row)
    if (buffers.flags[row] === 0) return
    this.#write(answer, buffers.finalObservations, row)
    if (!continuous) return
    const next = await openEnvRequest(this.#sockets[row], source.identity, 'reset', {}, row)
    this.#write(next, buffers.observations, row)
  }

  #write(answer: OpenEnvObservation, target: Float32Array, row: number): void {
    const { identity, description } = this.#options.source
    const sample = Object.fromEntries(
      this.#mapping.observation.map(({ name, values, text }) => [
        name,
        observedValue(answer.observation[name], values, text),
      ]),
    )
    try {
      this.#encode(sample, target, row * description.sizes.observation)
    } catch (thrown) {
      if (!Problem.is(thrown)) throw thrown
      throw externalError(identity, { code: 'observation_invalid', what: `its ${thrown.message}`, data: { row } })
    }
    if (this.#mapping.masked)
      this.#writeMask(answer, row, (answer.done ?? false) || target !== this.#options.buffers.observations)
  }

  /** At an episode's end, nothing is chosen: everything is legal. */
  #writeMask(answer: OpenEnvObservation, row: number, ended: boolean): void {
    const { masks } = this.#options.buffers
    const { mask } = this.#options.source.description.sizes
    masks.fill(ended ? 1 : 0, row * mask, (row + 1) * mask)
    if (ended) return
    const { action } = this.#mapping
    const values = action.kind === 'fields' ? action.parameters[0].values : null
    for (const index of legalActions(answer, values) ?? []) {
      if (index >= 0 && index < mask) masks[row * mask + index] = 1
    }
  }
}

/** OpenEnv ends an episode by `done` alone; some environments say in metadata that it was cut off. */
function flagsOf({ done = false, metadata, observation }: OpenEnvObservation): number {
  if (!done) return 0
  const cut = metadata?.truncated === true || observation.truncated === true
  return cut ? TRUNCATED : TERMINATED
}

/** A value of JSON as the space takes it: nested lists flat, a number as a list of one, an enumeration by its index. */
function observedValue(value: unknown, values: unknown[] | null, text: boolean): unknown {
  if (values !== null) return values.indexOf(value)
  if (text) return typeof value === 'string' ? value : value == null ? '' : (toolText(value) ?? JSON.stringify(value))
  if (Array.isArray(value)) return value.flat(Number.POSITIVE_INFINITY)
  return [value]
}

const toolResult = z.object({ content: z.array(z.looseObject({ text: z.string().optional() })) })

/** The texts of what a tool of MCP answered; undefined for anything else. */
function toolText(value: unknown): string | undefined {
  return toolResult
    .safeParse(value)
    .data?.content.flatMap(({ text }) => text ?? [])
    .join('\n')
}

/** What is sent for an action as the space's decoder gives it. */
function actionJson(mapping: OpenEnvMapping['action'], chosen: unknown): Record<string, unknown> {
  const entries = chosen as Record<string, unknown>
  if (mapping.kind === 'fields') return { ...mapping.constant, ...argumentsOf(mapping.parameters, entries) }
  const { name, parameters } = mapping.tools[entries.tool as number]
  const given = (entries[name] ?? {}) as Record<string, unknown>
  return { type: 'call_tool', tool_name: name, arguments: argumentsOf(parameters, given) }
}

function argumentsOf(
  parameters: readonly { name: string; values: unknown[] | null }[],
  chosen: Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(
    parameters.map(({ name, values }) => {
      const value = chosen[name]
      if (values !== null) return [name, values[value as number]]
      return [name, value instanceof Float32Array ? Array.from(value) : value]
    }),
  )
}
