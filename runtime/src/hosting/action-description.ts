import type { HostedAction, PolicySpec, SpaceDescription } from '@agentgym/contract'
import { actionDecoder } from '@agentgym/scenario/engine'

type Json = HostedAction['action']

/** The action in a row of the policy, as the scenario's `step` would get it, and its label. */
export type ActionDescriber = (row: Float32Array) => Pick<HostedAction, 'action' | 'label'>

/** Compiles the engine's own decoder of an action space. */
export function actionDescriber(space: SpaceDescription): ActionDescriber {
  const decode = actionDecoder(space)
  return (row) => {
    const action = toJson(space, decode(row, 0))
    return { action, label: labelOf(space, action) }
  }
}

/** Numbers of a box lie within its bounds as JSON has them too, where the float32 next to a bound does not. */
function toJson(space: SpaceDescription, action: unknown): Json {
  if (space.type === 'box') {
    return Array.from(action as Float32Array, (number, i) =>
      Math.min(space.high[i] ?? Number.POSITIVE_INFINITY, Math.max(space.low[i] ?? Number.NEGATIVE_INFINITY, number)),
    )
  }
  if (space.type === 'dict') {
    const entries = action as Record<string, unknown>
    return Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, toJson(inner, entries[name])]))
  }
  return action as Json
}

/** Of a discrete action; of a dict that has one labelled choice on top, that choice's: the tool of a tool scenario. */
function labelOf(space: SpaceDescription, action: Json): string | null {
  if (space.type === 'discrete') return space.labels?.[(action as number) - space.start] ?? null
  if (space.type !== 'dict') return null
  const labelled = space.entries.filter(({ space: inner }) => inner.type === 'discrete' && inner.labels !== undefined)
  if (labelled.length !== 1) return null
  return labelOf(labelled[0].space, (action as Record<string, Json>)[labelled[0].name])
}

/**
 * Probabilities of each choice in order, 0 for what the mask leaves out, to seven digits, which is what float32 tells; null
 * where the action is more than one discrete choice. Every number of `distribution` is finite.
 */
export function choiceProbabilities(
  { action: [leaf, ...others] }: PolicySpec,
  distribution: Float32Array,
  mask: Uint8Array,
): number[] | null {
  if (others.length > 0 || leaf.kind !== 'discrete') return null
  const logits = distribution.subarray(leaf.distributionOffset, leaf.distributionOffset + leaf.counts[0])
  const legal = (i: number) => mask[leaf.maskOffset + i] === 1
  const largest = logits.reduce((most, logit, i) => (legal(i) ? Math.max(most, logit) : most), Number.NEGATIVE_INFINITY)
  const weights = Array.from(logits, (logit, i) => (legal(i) ? Math.exp(logit - largest) : 0))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => Number((weight / total).toPrecision(7)))
}
