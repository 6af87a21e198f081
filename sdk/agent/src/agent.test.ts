import { AgentGymError, type AgentManifest, confidenceOf, type SpaceDescription } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { goodModel, goodPolicy } from '../../../testdata/models/good-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { Agent } from './agent.ts'
import { loadModel } from './policy/model-session.ts'
import { TextVectors } from './texts/text-vectors.ts'

const action: SpaceDescription = { type: 'discrete', n: 2, start: 0, labels: ['left', 'right'] }

function agentOf(manifest: Partial<AgentManifest> = {}, seed = 0): Agent {
  const scenario = { ...goodAgent.scenario, action }
  const model = loadModel(goodModel(), goodPolicy, {})
  return new Agent({ manifest: { ...goodAgent, scenario, ...manifest }, model, vectors: new TextVectors({}), seed })
}

describe('a decision', () => {
  it('is the likeliest choice, in words, with the probabilities of all', () => {
    const agent = agentOf()
    const { action, label, choices, value } = agent.act([0.3, -1])
    expect(agent.labels).toEqual(['left', 'right'])
    expect(choices?.map(({ label }) => label)).toEqual(['left', 'right'])
    expect(choices?.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 6)
    const likeliest = choices?.reduce((best, choice) => (choice.probability > best.probability ? choice : best))
    expect(likeliest).toMatchObject({ index: action, label })
    expect(value).toEqual(expect.any(Number))
  })

  it('keeps to the mask', () => {
    const agent = agentOf()
    for (const mask of [
      [true, false],
      [false, true],
    ]) {
      const { action, choices } = agent.act([0.3, -1], { mask })
      expect(action).toBe(mask.indexOf(true))
      expect(choices?.map(({ probability }) => probability)).toEqual(mask.map(Number))
    }
  })

  it('is drawn from the probabilities where it need not be the likeliest, by the seed', () => {
    const draws = (seed: number) => {
      const agent = agentOf({}, seed)
      return Array.from({ length: 2_000 }, () => agent.act([0.3, -1], { deterministic: false }).action as number)
    }
    const drawn = draws(1)
    const expected = agentOf().act([0.3, -1]).choices?.[1].probability as number
    const share = drawn.filter((choice) => choice === 1).length / drawn.length
    expect(Math.abs(share - expected)).toBeLessThan(4 * Math.sqrt((expected * (1 - expected)) / drawn.length))
    expect(draws(1)).toEqual(drawn)
    expect(draws(2)).not.toEqual(drawn)
  })

  it('has a confidence where the agent is calibrated and the choice is the likeliest', () => {
    const map = { slope: 0.5, intercept: -1 }
    const calibrated = agentOf({ confidence: { method: 'platt', ...map, episodes: 10, choices: 20, seed: 1 } })
    const { confidence, choices } = calibrated.act([0.3, -1])
    const chosen = Math.max(...(choices ?? []).map(({ probability }) => probability))
    expect(confidence).toBe(confidenceOf(map, chosen))
    expect(calibrated.actBatch([[0.3, -1]])[0].confidence).toBeCloseTo(confidence as number, 6)
    expect(calibrated.act([0.3, -1], { mask: [true, false] }).confidence).toBe(confidenceOf(map, 1))
    expect(calibrated.act([0.3, -1], { deterministic: false }).confidence).toBeNull()
    expect(agentOf().act([0.3, -1]).confidence).toBeNull()
  })

  it('is not drawn by an agent that knows no probabilities', () => {
    const agent = agentOf({ policy: { ...goodPolicy, head: 'q' } })
    expect(() => agent.act([0, 0], { deterministic: false })).toThrow(/values of actions and no probabilities/)
  })
})

describe('what is wrong', () => {
  it('is named with its field', () => {
    const agent = agentOf()
    const wrong: [observation: unknown, mask: unknown, field: string, words: RegExp][] = [
      [[1], undefined, 'observation', /1 .*2|2 .*1/],
      [['a', 1], undefined, 'observation', /"a"/],
      [[0, 0], [false, false], 'action_mask', /legal/],
      [[0, 0], [true], 'action_mask', /1/],
    ]
    for (const [observation, mask, field, words] of wrong) {
      const failure = failureOf(() => agent.act(observation, { mask }))
      expect(failure).toMatchObject({ code: 'observation_invalid', data: { field } })
      expect(failure.message).toMatch(words)
    }
    expect(failureOf(() => agent.act([0, 0], { state: 'AAAA' })).data).toMatchObject({ field: 'state' })
  })

  it('is named with its row in a batch', () => {
    const agent = agentOf()
    const observations = Array.from({ length: 300 }, () => [0, 0])
    expect(agent.actBatch(observations)).toHaveLength(300)
    expect(agent.actBatch([])).toEqual([])
    observations[270] = [0]
    expect(failureOf(() => agent.actBatch(observations))).toMatchObject({
      message: expect.stringMatching(/^Observation 270: /),
      data: { row: 270 },
    })
    expect(failureOf(() => agent.actBatch([[0, 0]], { masks: [] })).message).toBe(
      'actBatch got 1 observations and 0 masks.',
    )
  })
})

function failureOf(act: () => unknown): AgentGymError {
  try {
    act()
  } catch (error) {
    if (error instanceof AgentGymError) return error
    throw error
  }
  throw new Error('it did not fail')
}
