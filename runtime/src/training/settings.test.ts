import { AgentGymError, scenarioPackageSchema } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { type PlanRequest, resolvePlan } from './settings.ts'

function scenario(training: Record<string, unknown> = {}) {
  const agentgym = {
    kind: 'scenario',
    entry: 'src/index.ts',
    title: 'T',
    summary: 'S',
    category: 'control',
    difficulty: 'beginner',
    training,
  }
  return { package: scenarioPackageSchema.parse({ name: 'test', version: '1.0.0', agentgym }) }
}

const settingsOf = (of: ReturnType<typeof scenario>, request?: PlanRequest) => resolvePlan(of, request).settings

function failure(run: () => unknown): AgentGymError {
  try {
    run()
  } catch (error) {
    if (error instanceof AgentGymError) return error
    throw error
  }
  throw new Error('did not throw')
}

describe('resolvePlan', () => {
  it('lets the user override the scenario, and the scenario the defaults', () => {
    const settings = settingsOf(scenario({ algorithm: 'ppo', steps: 5000, gamma: 0.98, epochs: 20 }), {
      steps: 700,
      set: { gamma: '0.5', hidden: '32,16' },
    })
    expect(settings).toMatchObject({ steps: 700, gamma: 0.5, epochs: 20, hidden: [32, 16], gae_lambda: null })
  })

  it("accepts Stable-Baselines3's names", () => {
    expect(
      settingsOf(scenario(), { set: { n_envs: '4', n_steps: '16', batch_size: '64', ent_coef: '1e-2' } }),
    ).toMatchObject({
      environments: 4,
      rollout_steps: 16,
      minibatch_size: 64,
      entropy_coefficient: 0.01,
    })
  })

  it('names an unknown setting and suggests the nearest', () => {
    const error = failure(() => settingsOf(scenario(), { set: { learning_rat: '1' } }))
    expect(error.toReport()).toMatchObject({
      code: 'config_invalid',
      data: { field: 'learning_rat', suggestion: 'learning_rate' },
    })
    expect(error.exit).toBe(2)
    expect(failure(() => settingsOf(scenario(), { set: { x: '1' } })).data).toEqual({ field: 'x' })
    expect(failure(() => settingsOf(scenario({ gama: 0.9 }))).data).toMatchObject({
      field: 'gama',
      suggestion: 'gamma',
    })
  })

  it.each([
    ['gamma', '1.5'],
    ['gamma', 'high'],
    ['epochs', '0'],
    ['epochs', '2.5'],
    ['clip_range', 'null'],
    ['learning_rate', '-1'],
    ['hidden', '[64,"a"]'],
    ['learner_device', 'tpu'],
    ['learner_device', 'cuda:x'],
    ['rollout_provider', 'cuda:1'],
    ['normalize_advantage', 'yes'],
    ['steps', '1e999'],
  ])('refuses %s=%s and names the field', (name, value) => {
    const error = failure(() => settingsOf(scenario(), { set: { [name]: value } }))
    expect(error.code).toBe('config_invalid')
    expect(error.data.field).toBe(name)
    expect(error.message).toContain(name)
    expect(error.hint).toBeTruthy()
  })

  it('refuses an unknown algorithm', () => {
    expect(failure(() => settingsOf(scenario(), { algorithm: 'sarsa' })).data.field).toBe('algorithm')
  })

  it('records the workers and threads that run', () => {
    const settings = settingsOf(scenario(), { set: { environments: '2' } })
    expect(settings.rollout_workers).toBe(1)
    expect(settings.learner_threads).toBe(1)
  })
})
