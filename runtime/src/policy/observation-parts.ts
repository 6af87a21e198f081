import type { ObservationLeaf, PolicySpec } from '@agentgym/contract'

/** A leaf, or several box leaves side by side, that enters the network as one. */
export type ObservationPart = ObservationLeaf & {
  /** First element in the normaliser's statistics, which cover all box leaves in order; meaningless for other kinds. */
  statisticsOffset: number
}

/** One part a leaf: the inputs of the exported model. */
export function leafParts(spec: PolicySpec): ObservationPart[] {
  let statistics = 0
  return spec.observation.map((leaf) => {
    const part = { ...leaf, statisticsOffset: statistics }
    if (leaf.kind === 'box') statistics += leaf.size
    return part
  })
}

/** Neighbouring box leaves joined, so that a row of numbers only, however structured, needs no slicing in a rollout. */
export function joinedParts(spec: PolicySpec): ObservationPart[] {
  const parts: ObservationPart[] = []
  for (const part of leafParts(spec)) {
    const last = parts.at(-1)
    if (part.kind === 'box' && last?.kind === 'box') {
      last.size += part.size
      last.shape = [last.size]
    } else parts.push({ ...part })
  }
  return parts
}
