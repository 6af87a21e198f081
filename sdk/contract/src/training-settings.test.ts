import assert from 'node:assert'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgentGymError } from './agent-gym-error.ts'
import { algorithmSettings, resolveTrainingPlan, trainingAlgorithms } from './training-settings.ts'

describe('training settings', () => {
  const page = readFileSync(new URL('../../../docs/training.md', import.meta.url), 'utf8')

  /** Rows `| name | default | … |` below a heading. */
  function rowsBelow(heading: string): Map<string, string> {
    const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
    return new Map(
      Array.from(section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm), ([, name, fallback]) => [name, fallback.trim()]),
    )
  }

  describe('docs/training.md', () => {
    const common = rowsBelow('Settings of every algorithm')

    it.each(trainingAlgorithms)('has every setting of %s with its default, and no other', (algorithm) => {
      const defaults = Object.entries<unknown>(algorithmSettings[algorithm].schema.parse({}))
      const rows = new Map([...common, ...rowsBelow(`Settings of ${algorithm.toUpperCase()}`)])
      expect([...rows.keys()].sort()).toEqual(defaults.map(([name]) => name).sort())
      for (const [name, value] of defaults) {
        const reported = rows.get(name) ?? ''
        const apart = new RegExp(`${algorithm} (\\[[^\\]]*\\]|[^,]+)`).exec(reported)
        expect(apart?.[1] ?? reported, name).toBe(JSON.stringify(value))
      }
    })

    it('has every other name that a setting goes by', () => {
      for (const { aliases } of Object.values(algorithmSettings)) {
        for (const alias of Object.keys(aliases)) expect(page).toContain(`\`${alias}\``)
      }
    })
  })
})

describe('resolve training plan', () => {
  function failure(run: () => unknown): AgentGymError {
    try {
      run()
    } catch (error) {
      if (error instanceof AgentGymError) return error
      throw error
    }
    throw new Error('did not throw')
  }

  const ppoBlock = { algorithm: 'ppo', steps: 5000, gamma: 0.98, n_steps: 64, learning_rate: 0.01, embedding: 16 }

  describe('resolveTrainingPlan', () => {
    it('uses PPO by default', () => {
      expect(resolveTrainingPlan({})).toMatchObject({ algorithm: 'ppo', settings: { environments: 16, gamma: null } })
    })

    it('takes the old name of both devices, below what is named apart', () => {
      const block = { execution_provider: 'cuda', grpo: { execution_provider: 'cpu' } }
      const devices = (settings: Record<string, unknown>, algorithm = 'ppo') =>
        resolveTrainingPlan(block, { algorithm, settings }).settings
      expect(devices({})).toMatchObject({ learner_device: 'cuda', rollout_provider: 'cuda' })
      expect(devices({ learner_device: 'cuda:1' })).toMatchObject({
        learner_device: 'cuda:1',
        rollout_provider: 'cuda',
      })
      expect(devices({}, 'grpo')).toMatchObject({ learner_device: 'cpu', rollout_provider: 'cpu' })
    })

    it.each(['dqn', 'sac'])('leaves the learner of %s on the CPU', (algorithm) => {
      const error = failure(() => resolveTrainingPlan({}, { algorithm, settings: { learner_device: 'cuda' } }))
      expect(error).toMatchObject({ code: 'config_invalid', data: { field: 'learner_device' } })
      expect(error.message).toContain('learns on the CPU only')
      const settings = { learner_device: 'auto', rollout_provider: 'cuda' }
      expect(resolveTrainingPlan({}, { algorithm, settings }).settings).toMatchObject(settings)
    })

    it('lets the request override the scenario, and the scenario the defaults', () => {
      const plan = resolveTrainingPlan(ppoBlock, { steps: 700, settings: { gamma: 0.5, hidden: [32] } })
      const settings = { steps: 700, gamma: 0.5, hidden: [32], rollout_steps: 64, embedding: 16, gae_lambda: null }
      expect(plan).toMatchObject({ algorithm: 'ppo', settings })
      expect(resolveTrainingPlan({}, { steps: 700, settings: { steps: 800 } }).settings.steps).toBe(800)
    })

    it("a scenario's settings for PPO leave GRPO usable: shared ones hold, PPO's own are left out", () => {
      const plan = resolveTrainingPlan(ppoBlock, { algorithm: 'grpo' })
      expect(plan).toMatchObject({ algorithm: 'grpo', settings: { steps: 5000, learning_rate: 0.01, embedding: 16 } })
      expect(plan.settings).not.toHaveProperty('gamma')
      expect(plan.settings).not.toHaveProperty('rollout_steps')
      const back = resolveTrainingPlan({ algorithm: 'grpo', beta: 0.1, epochs: 2 }, { algorithm: 'ppo' })
      expect(back).toMatchObject({ algorithm: 'ppo', settings: { epochs: 2 } })
    })

    it('refuses settings that change nothing for an algorithm, unless they come with another one', () => {
      const set = (settings: Record<string, unknown>) => resolveTrainingPlan({}, { algorithm: 'dqn', settings })
      expect(failure(() => set({ box_actions: 'clipped' })).toReport()).toMatchObject({
        code: 'config_invalid',
        hint: 'Remove it, or use --algorithm ppo, grpo, a2c.',
        data: { field: 'box_actions' },
      })
      expect(failure(() => set({ initial_log_std: 0 })).data.field).toBe('initial_log_std')
      expect(failure(() => set({ memory: 'gru' })).data.field).toBe('memory')
      expect(failure(() => resolveTrainingPlan({ dqn: { memory_units: 32 } }, { algorithm: 'dqn' })).exit).toBe(2)
      const plan = set({})
      expect(set({ ...plan.settings })).toEqual(plan)
      expect(resolveTrainingPlan({ algorithm: 'ppo', memory_units: 32 }, { algorithm: 'dqn' })).toEqual(plan)
    })

    it('settings under the name of an algorithm are for that one alone, and win over flat ones', () => {
      const block = { ...ppoBlock, grpo: { learning_rate: 0.003, num_generations: 16 }, ppo: { epochs: 9 } }
      expect(resolveTrainingPlan(block).settings).toMatchObject({ learning_rate: 0.01, epochs: 9 })
      expect(resolveTrainingPlan(block, { algorithm: 'grpo' }).settings).toMatchObject({
        ...{ learning_rate: 0.003, group_size: 16, epochs: 4, steps: 5000 },
      })
      expect(failure(() => resolveTrainingPlan({ grpo: 3 })).data.field).toBe('grpo')
      const foreign = failure(() => resolveTrainingPlan({ grpo: { gamma: 1 } }, { algorithm: 'grpo' }))
      expect(foreign.data.field).toBe('gamma')
      expect(foreign.message).toContain('agentgym.training.grpo')
    })

    it('lets the entropy coefficient fall where a run chooses it, and keeps one that somebody chose', () => {
      const entropyOf = (settings: Record<string, unknown>) => {
        const plan = resolveTrainingPlan({}, { settings })
        assert(plan.algorithm === 'ppo')
        const { entropy_coefficient, entropy_coefficient_schedule } = plan.settings
        return [entropy_coefficient, entropy_coefficient_schedule]
      }
      expect(entropyOf({})).toEqual([null, null])
      expect(entropyOf({ ent_coef: 0.02 })).toEqual([0.02, 'constant'])
      expect(entropyOf({ entropy_coefficient: 'lin_0.02' })).toEqual([0.02, 'linear'])
      expect(entropyOf({ entropy_coefficient: 0.02, entropy_coefficient_schedule: 'linear' })).toEqual([0.02, 'linear'])
      expect(entropyOf({ entropy_coefficient_schedule: 'constant' })).toEqual([null, 'constant'])
      const { settings } = resolveTrainingPlan({}, { settings: { ent_coef: 0.02 } })
      expect(resolveTrainingPlan({}, { settings }).settings).toEqual(settings)
    })

    it('gives settings copied from Stable-Baselines3 or RL-Zoo their meaning there', () => {
      const copied = { n_envs: 4, learning_rate: 0.002, vf_coef: 0.5 }
      expect(resolveTrainingPlan(copied).settings).toMatchObject({
        ...{ environments: 4, learning_rate: 0.002, learning_rate_schedule: 'constant', value_coefficient: 1 },
      })
      const falling = { n_envs: 4, learning_rate: 'lin_0.001', clip_range: 'lin_2e-1' }
      expect(resolveTrainingPlan(falling).settings).toMatchObject({
        ...{ learning_rate: 0.001, learning_rate_schedule: 'linear', clip_range: 0.2, clip_range_schedule: 'linear' },
      })
      // One setting by another name copies nothing.
      expect(resolveTrainingPlan({ learning_rate: 0.002 }, { settings: { n_envs: 4 } }).settings).toMatchObject({
        ...{ learning_rate: 0.002, learning_rate_schedule: 'linear' },
      })
      const error = failure(() => resolveTrainingPlan({}, { settings: { gamma: 'lin_0.9' } }))
      expect(error.data.field).toBe('gamma')
    })

    it("accepts TRL's names for GRPO", () => {
      const settings = { num_generations: 4, beta: 0.04, epsilon: 0.1, num_iterations: 1, num_groups: 3 }
      expect(resolveTrainingPlan({}, { algorithm: 'grpo', settings }).settings).toMatchObject({
        ...{ group_size: 4, kl_coefficient: 0.04, clip_range: 0.1, epochs: 1, groups: 3 },
      })
    })

    it.each([
      ['an algorithm that is not known', { algorithm: 'sarsa' }, 'algorithm'],
      ['an algorithm of another type', { algorithm: 7 as unknown as string }, 'algorithm'],
      ['a name that every object has', { settings: { constructor: 1 } }, 'constructor'],
      ['a misspelt name', { settings: { gama: 1 } }, 'gama'],
      ["the other algorithm's setting, asked for", { settings: { group_size: 4 } }, 'group_size'],
      ["the other algorithm's alias, asked for", { algorithm: 'grpo', settings: { n_envs: 4 } }, 'n_envs'],
      ['a group of one', { algorithm: 'grpo', settings: { group_size: 1 } }, 'group_size'],
      ['more environments than there may be', { algorithm: 'grpo', settings: { groups: 60_000 } }, 'groups'],
      ['a KL coefficient below zero', { algorithm: 'grpo', settings: { beta: -1 } }, 'kl_coefficient'],
      ['a number that is none', { settings: { gamma: Number.NaN } }, 'gamma'],
      ['no steps', { steps: 0 }, 'steps'],
    ])('refuses %s and names the field', (_, request, field) => {
      const error = failure(() => resolveTrainingPlan({}, request))
      expect(error.code).toBe('config_invalid')
      expect(error.data.field).toBe(field)
      expect(error.message).toContain(field)
      expect(error.hint).toBeTruthy()
    })

    it("refuses a misspelt setting in the scenario's block, whatever algorithm is asked for", () => {
      for (const algorithm of [undefined, 'ppo', 'grpo']) {
        expect(failure(() => resolveTrainingPlan({ gama: 0.9 }, { algorithm })).data.field).toBe('gama')
      }
      expect(failure(() => resolveTrainingPlan({ algorithm: 'grpo', gamma: 0.9 })).hint).toContain('setting of ppo')
      expect(failure(() => resolveTrainingPlan({ algorithm: 'sarsa' })).data.field).toBe('algorithm')
    })

    it('suggests the nearest name, an alias by the name that it stands for', () => {
      const error = failure(() => resolveTrainingPlan({}, { settings: { ent_coeff: 1 } }))
      expect(error.data.suggestion).toBe('entropy_coefficient')
    })

    it('gives a plan or config_invalid for anything that JSON can hold', () => {
      const names = fc.constantFrom(
        'steps',
        'hidden',
        'gamma',
        'group_size',
        'groups',
        'beta',
        'grpo',
        '__proto__',
        'x',
      )
      const settings = fc.dictionary(names, fc.jsonValue())
      const algorithm = fc.constantFrom(undefined, 'ppo', 'grpo')
      fc.assert(
        fc.property(settings, settings, algorithm, (training, requested, algorithm) => {
          try {
            const plan = resolveTrainingPlan(training, { algorithm, settings: requested })
            expect(resolveTrainingPlan({}, plan as { algorithm: string; settings: Record<string, unknown> })).toEqual(
              plan,
            )
          } catch (error) {
            expect(error).toMatchObject({ code: 'config_invalid' })
          }
        }),
      )
    })
  })
})

describe('settings of SAC', () => {
  const settingsOf = (settings: Record<string, unknown>, training: Record<string, unknown> = {}) =>
    resolveTrainingPlan(training, { algorithm: 'sac', settings }).settings

  it("go by Stable-Baselines3's names, too", () => {
    const named = {
      ...{
        n_timesteps: 900,
        n_envs: 2,
        batch_size: 32,
        train_freq: 8,
        gradient_steps: 4,
        buffer_size: 5000,
        tau: 0.02,
      },
      ...{ learning_starts: 10, gamma: 0.9, learning_rate: 0.01, ent_coef: 'auto_0.1', target_entropy: -2 },
    }
    expect(settingsOf(named)).toMatchObject({
      ...{ steps: 900, environments: 2, minibatch_size: 32, train_frequency: 8, gradient_steps: 4, buffer_size: 5000 },
      ...{ tau: 0.02, learning_starts: 10, gamma: 0.9, learning_rate: 0.01, learning_rate_schedule: 'constant' },
      ...{ entropy_coefficient: 'auto_0.1', target_entropy: -2 },
    })
  })

  it.each(['auto', 'auto_1', 'auto_0.05', 0, 0.2])('accept the entropy coefficient %j', (ent_coef) => {
    expect(settingsOf({ ent_coef })).toMatchObject({ entropy_coefficient: ent_coef })
  })

  it.each([
    ['entropy_coefficient', 'auto_0'],
    ['entropy_coefficient', 'auto_-1'],
    ['entropy_coefficient', 'automatic'],
    ['entropy_coefficient', -0.1],
    ['target_entropy', 'none'],
    ['box_actions', 'clipped'],
    ['tau', 0],
  ])('refuse %s = %j', (name, value) => {
    expect(() => settingsOf({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'config_invalid', data: expect.objectContaining({ field: name }) }),
    )
  })

  it('take nothing of another algorithm’s block that means something else there', () => {
    const block = { algorithm: 'ppo', ent_coef: 0, gamma: 0.9, sac: { tau: 0.01 } }
    expect(settingsOf({}, block)).toMatchObject({ entropy_coefficient: 'auto', gamma: 0.9, tau: 0.01 })
    const { settings } = resolveTrainingPlan({ algorithm: 'ppo', n_steps: 2048 }, { algorithm: 'dqn' })
    expect(settings).toMatchObject({ n_step: 1, rollout_steps: 16 })
  })
})
