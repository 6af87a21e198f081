import { choiceProbabilities, choosingLeaf, type PolicySession } from '@agentgym/agent/engine'
import type { VectorEnvironment } from '../sandbox/vector-environment.ts'
import type { ChoiceRecorder } from './play-episodes.ts'

/** Undefined for a policy that does not pick one of several choices by its probability. */
export function choiceRecorder(
  { spec, distribution, batch }: PolicySession,
  { buffers, description }: VectorEnvironment,
): ChoiceRecorder | undefined {
  const leaf = choosingLeaf(spec)
  if (leaf === null) return undefined
  const columns = distribution.length / batch
  const { action, mask } = description.sizes
  const everything = new Uint8Array(leaf.maskOffset + leaf.counts[0]).fill(1)
  const noted: number[][] = Array.from({ length: batch }, () => [])
  return {
    step(row) {
      const legal = description.masked ? buffers.masks.subarray(row * mask, (row + 1) * mask) : everything
      const probabilities = choiceProbabilities(leaf, distribution.subarray(row * columns, (row + 1) * columns), legal)
      noted[row].push(probabilities[buffers.actions[row * action + leaf.offset]])
    },
    end(row) {
      const chosen = Float64Array.from(noted[row])
      noted[row] = []
      return chosen
    },
  }
}
