import {
  actionComponents,
  environmentActions,
  logSlope,
  type SampledActions,
  type SamplingRequest,
  threefry2x32,
} from '@agentgym/agent/engine'

const TO_UNIT = 2 ** -32
const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI)

const words = new Int32Array(2)

/**
 * Actions without regard to the policy, as SAC explores before it learns: uniform between two bounds, so that u = atanh of
 * a uniform number, and u standard normal where a bound is missing. For policies of squashed boxes. The random numbers are
 * named as in `sampleActions`; log-probabilities are those of this choice.
 */
export function uniformActions({ spec, rows, key }: SamplingRequest, out: SampledActions): void {
  const { gaussian, actionSize } = actionComponents(spec)
  const stepHigh = Math.floor(key.step / 2 ** 32) << 16
  out.logProbabilities.fill(0, 0, rows)
  for (const { block, half, action, squash } of gaussian) {
    for (let row = 0; row < rows; row++) {
      threefry2x32(key.seed | 0, key.step | 0, key.firstEnvironment + row, stepHigh + block, words)
      const at = row * actionSize + action
      if (squash?.kind === 'tanh') {
        // The middle of each of 2^32 intervals: neither bound itself, whose u is infinite.
        out.actions[at] = Math.atanh(2 * ((words[half] >>> 0) + 0.5) * TO_UNIT - 1)
        out.logProbabilities[row] -= Math.log(2 * squash.scale)
        continue
      }
      const radius = Math.sqrt(-2 * Math.log(((words[0] >>> 0) + 1) * TO_UNIT))
      const angle = 2 * Math.PI * TO_UNIT * (words[1] >>> 0)
      out.actions[at] = radius * (half === 0 ? Math.cos(angle) : Math.sin(angle))
      out.logProbabilities[row] -= 0.5 * out.actions[at] ** 2 + HALF_LOG_TWO_PI
      if (squash !== null) out.logProbabilities[row] -= logSlope(squash, out.actions[at])
    }
  }
  environmentActions(spec, out.actions, rows, out.environmentActions)
}
