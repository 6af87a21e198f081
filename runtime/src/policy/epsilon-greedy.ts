import {
  actionComponents,
  greedyActions,
  type SampledActions,
  type SamplingRequest,
  threefry2x32,
} from '@agentgym/agent/engine'

const TO_UNIT = 2 ** -32

const words = new Int32Array(2)

/**
 * The action of the largest value for every row, or, with probability `epsilon`, one drawn uniformly from the legal ones
 * (Watkins 1989). For policies whose distribution row is the values of one discrete action. The random numbers are named
 * as in `sampleActions`; log-probabilities are those of this choice. Fails with `training_diverged` where no value is a number.
 */
export function exploreActions(request: SamplingRequest, epsilon: number, out: SampledActions): void {
  const { spec, masks, rows, key } = request
  const { maskSize, categorical } = actionComponents(spec)
  const [{ count, block }] = categorical
  greedyActions(request, out.environmentActions)
  const counter1 = (Math.floor(key.step / 2 ** 32) << 16) + block
  for (let row = 0; row < rows; row++) {
    let legal = 0
    for (let i = 0; i < count; i++) if (masks === null || masks[row * maskSize + i] === 1) legal += 1
    const greedy = out.environmentActions[row]
    let choice = greedy
    threefry2x32(key.seed | 0, key.step | 0, key.firstEnvironment + row, counter1, words)
    if ((words[0] >>> 0) * TO_UNIT < epsilon) {
      let left = Math.floor((words[1] >>> 0) * TO_UNIT * legal)
      for (choice = 0; choice < count; choice++) {
        if (masks !== null && masks[row * maskSize + choice] !== 1) continue
        if (left === 0) break
        left -= 1
      }
    }
    out.actions[row] = choice
    out.environmentActions[row] = choice
    out.logProbabilities[row] = Math.log(epsilon / legal + (choice === greedy ? 1 - epsilon : 0))
  }
}
