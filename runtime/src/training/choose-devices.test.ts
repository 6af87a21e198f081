import { resolveTrainingPlan, type SpaceDescription } from '@agentgym/contract'
import { expect, test } from 'vitest'
import { type Available, chooseDevices } from './choose-devices.ts'
import { policyOfPlan } from './policy-of-plan.ts'
import { resolveAutomatic } from './settings.ts'

const box = (shape: number[]): SpaceDescription => {
  const size = shape.reduce((product, side) => product * side, 1)
  return { type: 'box', shape, low: Array(size).fill(-1), high: Array(size).fill(1) }
}
const auto = { learner_device: 'auto', rollout_provider: 'auto', rollout_workers: 1 }
const everything = { gpu: true, learner: true, rollouts: true }

function chosen(settings: Record<string, unknown>, available: Available, { algorithm = 'ppo', shape = [4] } = {}) {
  const plan = resolveAutomatic(resolveTrainingPlan({}, { algorithm, settings: { ...auto, ...settings } }))
  const spaces = { observation: box(shape), action: { type: 'discrete', n: 2, start: 0 } as const }
  return chooseDevices(plan, policyOfPlan(plan, spaces), available)
}

test('what is named is taken, and nothing is said', () => {
  const named = { learner_device: 'cuda:1', rollout_provider: 'cuda' }
  const nothing = { gpu: false, learner: false, rollouts: false }
  expect(chosen(named, nothing)).toEqual({ learner: 'cuda:1', rollouts: 'cuda', reasons: [] })
  expect(chosen({ learner_device: 'cpu', rollout_provider: 'cpu' }, everything).reasons).toEqual([])
})

test('auto takes the CPU without a GPU, and says so in one line each', () => {
  const { learner, rollouts, reasons } = chosen({}, { gpu: false, learner: false, rollouts: false })
  expect([learner, rollouts]).toEqual(['cpu', 'cpu'])
  expect(reasons).toEqual([
    'the learner computes on the CPU: this process has no GPU',
    'rollouts compute on the CPU: this process has no GPU',
  ])
})

test('auto takes the CPU for small networks, and a GPU for large ones and for convolutions', () => {
  const small = chosen({}, everything)
  expect([small.learner, small.rollouts]).toEqual(['cpu', 'cpu'])
  expect(small.reasons[0]).toContain('weights, 256 rows at a time are too few')
  const large = chosen({ hidden: [1024, 1024], minibatch_size: 4096, environments: 256 }, everything)
  expect([large.learner, large.rollouts]).toEqual(['cuda', 'cuda'])
  const convolutional = chosen({}, everything, { shape: [4, 10, 10] })
  expect(convolutional.learner).toBe('cuda')
  expect(convolutional.reasons[0]).toContain('the network has convolutions')
})

test('auto names what is missing where a GPU is there and cannot be used', () => {
  const { learner, rollouts, reasons } = chosen(
    { hidden: [2048, 2048] },
    { gpu: true, learner: false, rollouts: false },
  )
  expect([learner, rollouts]).toEqual(['cpu', 'cpu'])
  expect(reasons[0]).toContain('built without CUDA')
  expect(reasons[1]).toContain('ONNX Runtime has no CUDA library')
})

test('auto leaves the learner of DQN on the CPU', () => {
  const { learner, reasons } = chosen({}, everything, { algorithm: 'dqn' })
  expect(learner).toBe('cpu')
  expect(reasons[0]).toContain('DQN learns on the CPU only')
})
