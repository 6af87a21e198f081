import vm from 'node:vm'
import type { AgentCard, PolicySpec } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import { agentSnippets } from './agent-snippets.ts'

const card = (policy: Partial<PolicySpec> = {}): AgentCard => {
  const { scenario, algorithm, steps, evaluation, model_hash } = goodAgent
  const spaces = { observation: [], action: [] }
  return { scenario, spaces, algorithm, steps, evaluation, model_hash, policy: { ...goodAgent.policy, ...policy } }
}
const textOf = (agent: AgentCard, title: RegExp) =>
  agentSnippets('@acme/solver', agent, 'https://gym.example').find((one) => title.test(one.title))?.text ?? ''

/** Runs the snippet for Node.js against a model that answers with these outputs; gives what it asked and decided. */
function runNode(agent: AgentCard, outputs: Record<string, number[]>) {
  const asked: Record<string, unknown>[] = []
  const session = {
    run: (observation: Record<string, unknown>) => {
      asked.push(observation)
      return Object.fromEntries(
        Object.entries(outputs).map(([name, data]) => [name, { data: Float32Array.from(data) }]),
      )
    },
  }
  const Tensor = function (this: object, type: string, data: Float32Array, dims: number[]) {
    Object.assign(this, { type, length: data.length, dims })
  }
  const body = textOf(agent, /^Node/)
    .replace(/^import .*\n/, '')
    .replaceAll('await ', '')
  const context = { InferenceSession: { create: () => session }, Tensor, Float32Array, Array, console: { log() {} } }
  const action = vm.runInNewContext(`${body}\ntypeof action === 'undefined' ? null : action`, context)
  return { asked, action }
}

describe('snippets', () => {
  it('give the likeliest action, counted as the scenario counts', () => {
    const [choice] = goodAgent.policy.action
    const [{ name, size }] = goodAgent.policy.observation
    const { asked, action } = runNode(card(), { logits: [0.1, 0.9] })
    expect(action).toBe(1)
    expect(asked).toEqual([{ [name]: { type: 'float32', length: size, dims: [1, size] } }])
    const shifted = card({ action: [{ ...choice, start: 5 }] })
    expect(runNode(shifted, { logits: [0.9, 0.1] }).action).toBe(5)
    expect(textOf(shifted, /^Python/)).toContain('return 5 + int(scores.argmax())')
  })

  it('are whole whatever a stranger calls an input', () => {
    const [leaf] = goodAgent.policy.observation
    const names = [
      '"]; process.exit(1); ["',
      'a.b',
      'a_b',
      '1',
      '🚗',
      '\n"""',
      "'",
      '$',
      '__proto__',
      'constructor',
      'class',
      'model',
    ]
    const agent = card({ observation: names.map((name) => ({ ...leaf, name })) })
    const { asked, action } = runNode(agent, { logits: [1, 0] })
    expect(Object.keys(asked[0]).sort()).toEqual([...names].sort())
    expect(action).toBe(0)
    const [, parameters = ''] = /def act\((.*)\) -> int:/.exec(textOf(agent, /^Python/)) ?? []
    const variables = parameters.split(', ').map((parameter) => parameter.replace(': list[float]', ''))
    expect(new Set(variables).size).toBe(names.length)
    for (const variable of variables) expect(variable).toMatch(/^(?!(?:class|model)$)[A-Za-z_]\w*$/)
  })

  it('give all outputs where an action is more than one choice', () => {
    const [choice] = goodAgent.policy.action
    const agent = card({
      action: [
        { ...choice, name: 'a' },
        { ...choice, name: 'b' },
      ],
    })
    expect(runNode(agent, { 'a.logits': [0, 1], 'b.logits': [1, 0] }).action).toBeNull()
    expect(textOf(agent, /^Python/)).toContain('-> dict:')
  })
})
