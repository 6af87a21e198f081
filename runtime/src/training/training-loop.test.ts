import { type Evaluation, resolveTrainingPlan } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import type { Learner } from '../learner/learner-types.ts'
import type { Algorithm } from './algorithm.ts'
import type { EvaluationPurpose } from './held-out-evaluations.ts'
import { runIterations, type TrainingRun } from './training-loop.ts'

const learnerMetrics = {
  ...{ policyLoss: 0, valueLoss: 0, entropy: 0, approximateKl: 0, clipFraction: 0, explainedVariance: 0 },
  ...{ klToReference: null, zeroVarianceGroups: null, gradientNorm: 0 },
}

/** Weights are the steps trained so far, so an evaluation can say which weights it was given. */
function simulate(
  succeeds: (purpose: EvaluationPurpose, steps: number) => boolean,
  stopAtSuccess = true,
  pauseAt: number | null = null,
) {
  let steps = 0
  const played: { purpose: EvaluationPurpose; steps: number }[] = []
  const { algorithm: name, settings } = resolveTrainingPlan(
    {},
    { settings: { steps: 100, evaluate_every: 10, checkpoint_every: 0, stop_at_success: stopAtSuccess } },
  )
  const algorithm: Algorithm = {
    stepsTotal: 100,
    iterate: async () => {
      steps += 10
      const times = { collectSeconds: 0, updateSeconds: 0 }
      return { steps: 10, episodes: [], learningRate: 0, metrics: learnerMetrics, ...times } as never
    },
    snapshot: async () => [],
    restore: async () => {},
  }
  const run: Partial<TrainingRun> = {
    plan: { algorithm: name, settings } as TrainingRun['plan'],
    algorithm,
    learner: {
      weights: () => Float32Array.of(steps),
      remembered: () => ({ steps: 0, bytes: 0 }),
      state: () => new Uint8Array(0),
    } as Learner,
    reference: null,
    resume: null,
    parent: null,
    pauseAt,
    evaluate: async (weights, purpose) => {
      const [at] = weights
      played.push({ purpose, steps: at })
      const ok = succeeds(purpose, at)
      const evaluation = { return_mean: at, success: { ok, criteria: [] } } as unknown as Evaluation
      return { evaluation, clear: ok, confidence: null, sampled: null }
    },
    onProgress: () => {},
    onEvaluation: () => {},
    onCheckpoint: () => {},
    stopped: () => false,
  }
  return runIterations(run as TrainingRun).then((result) => ({ result, played }))
}

const finals = (played: { purpose: EvaluationPurpose; steps: number }[]) =>
  played.filter(({ purpose }) => purpose === 'final')

describe('runIterations', () => {
  it('pauses with one evaluation and a checkpoint, and plays nothing that is published', async () => {
    const { result, played } = await simulate(() => false, true, 35)
    expect(result).toBeNull()
    expect(played.at(-1)).toEqual({ purpose: 'selection', steps: 40 })
    expect(finals(played)).toEqual([])
  })

  it('plays the published episodes once, however often the selection succeeded before it was confirmed', async () => {
    const { result, played } = await simulate((purpose, steps) => purpose === 'selection' || steps >= 50)
    expect(result).toMatchObject({ steps: 50, stepsOfWeights: 50 })
    expect(played.filter(({ purpose }) => purpose === 'confirmation').map(({ steps }) => steps)).toEqual([
      10, 20, 30, 40, 50,
    ])
    expect(finals(played)).toEqual([{ purpose: 'final', steps: 50 }])
    expect(played.at(-1)?.purpose).toBe('final')
  })

  it('ends although the published episodes fail: they decide nothing', async () => {
    const { result, played } = await simulate((purpose) => purpose !== 'final')
    expect(result).toMatchObject({ steps: 10, evaluation: { success: { ok: false } } })
    expect(finals(played)).toHaveLength(1)
  })

  it.each([true, false])('goes to its end without a confirmed success (stop_at_success %s)', async (stop) => {
    const { result, played } = await simulate((purpose, steps) => purpose !== 'confirmation' && steps >= 80, stop)
    expect(result?.steps).toBe(100)
    expect(finals(played)).toEqual([{ purpose: 'final', steps: 100 }])
  })
})
