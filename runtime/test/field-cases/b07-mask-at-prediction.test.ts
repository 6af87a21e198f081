// @module-tag full
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { agentServer } from '@agentgym/agent/server'
import type { AgentManifest } from '@agentgym/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callAnswerer } from '../../src/hosting/call-answerer.ts'
import { removeFixtures, scenarioOf, type TrainedRun, trained } from '../scenario-fixture.ts'

// The observation says nothing of what is legal, so an agent can know it from the mask alone.
const definition = `
  observation: box({ shape: [1] }), action: discrete({ n: 2, labels: ['even', 'odd'] }), maxSteps: 20,
  reset() { return { step: 0 } },
  step(state, action) {
    if (action !== state.step % 2) throw new Error('illegal action ' + action)
    state.step += 1
    return { reward: 1, terminated: false }
  },
  observe() { return [0] },
  actionMask(state) { return [state.step % 2 === 0, state.step % 2 === 1] },`
const words = ['even', 'odd']
const legalAt = (step: number) => words.map((_, action) => action === step % 2)

let run: TrainedRun
let manifest: AgentManifest
let agent: Agent

beforeAll(async () => {
  run = await trained(await scenarioOf(definition), { steps: 320, environments: 2, rollout_steps: 20 })
  manifest = JSON.parse(await readFile(join(run.out, 'agent.json'), 'utf8'))
  agent = await loadAgent(run.out)
}, 180_000)
afterAll(() => {
  agent.dispose()
  return removeFixtures()
})

describe('B07: an agent that was trained with a mask', () => {
  it('says in agent.json that it needs one', () => {
    expect(manifest.scenario.mask_required).toBe(true)
  })

  it('never takes what is illegal, sampled or greedy, when it is served with the mask', async () => {
    const post = served(agent)
    for (const deterministic of [true, false]) {
      for (let step = 0; step < 100; step++) {
        const { body } = await post('/act', { observation: [0], mask: legalAt(step), deterministic })
        expect(body).toMatchObject({ action: step % 2, label: words[step % 2] })
        expect(body.choices.map(({ probability }: { probability: number }) => probability)).toEqual(
          legalAt(step).map(Number),
        )
      }
    }
    const masks = Array.from({ length: 50 }, (_, step) => legalAt(step))
    const many = { observations: masks.map(() => [0]), masks, deterministic: false }
    const { decisions } = (await post('/act', many)).body
    expect(decisions.map(({ action }: { action: number }) => action)).toEqual(masks.map((_, step) => step % 2))
  })

  it('takes the tools and the choices that a request offers for what is legal', async () => {
    const post = served(agent)
    const messages = [{ role: 'user', content: '[0]' }]
    const input = '[0]'
    for (const word of words) {
      const tools = [{ type: 'function', function: { name: word } }]
      const chat = await post('/v1/chat/completions', { model: 'parity', messages, tools })
      expect(chat.body.choices[0].message.tool_calls[0].function.name).toBe(word)
      const functions = [{ type: 'function', name: word }]
      const response = await post('/v1/responses', { model: 'parity', input, tools: functions })
      expect(response.body.output[0].name).toBe(word)
    }
    const choices = words.map((value) => ({ value }))
    const question = { type: 'choice', name: 'next', instructions: 'Which?', choices }
    const decision = await post('/v1/decisions', { model: 'parity', input, questions: [question] })
    expect(decision.body.answers).toMatchObject([
      { type: 'choice', probabilities: [{ value: 'even' }, { value: 'odd' }] },
    ])
  })

  it.each([
    ['/act', { observation: [0] }],
    ['/act', { observation: [0], mask: null }],
    ['/act', { observations: [[0], [0]] }],
    ['/act', { observations: [[0], [0]], masks: [[true, false], null] }],
    ['/v1/chat/completions', { model: 'parity', messages: [{ role: 'user', content: '[0]' }] }],
    ['/v1/responses', { model: 'parity', input: '[0]' }],
  ])('is refused without the mask, with what to send: %s %j', async (path, body) => {
    const answer = await served(agent)(path, body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'mask_required'])
    expect(answer.body.error.message).toMatch(/booleans, one a choice of discrete 2.*tools or choices that are legal/)
  })

  it('is refused alike where a worker runs it for a server, and the other calls of the batch are answered', async () => {
    const model = new Uint8Array(await readFile(join(run.out, 'model.onnx')))
    const answer = callAnswerer(manifest, model)
    const call = (id: string, action_mask: boolean[] | null) => ({ id, observation: [0], action_mask })
    const answers = answer([call('a', [false, true]), call('b', null), call('c', [true, false])])
    expect(answers).toMatchObject([
      { id: 'a', action: 1, label: 'odd', probabilities: [0, 1] },
      { id: 'b', error: { code: 'mask_required', hint: expect.stringContaining('booleans, one a choice') } },
      { id: 'c', action: 0, label: 'even', probabilities: [1, 0] },
    ])
  })

  it('is refused in a program, unless the program says that everything is legal', () => {
    expect(() => agent.act([0])).toThrow('does not say which are')
    expect(() => agent.actBatch([[0]])).toThrow('Observation 0')
    expect(agent.act([0], { mask: null }).choices).toHaveLength(2)
  })

  it('is as before where it is of an older version, whose agent.json does not say it', async () => {
    const { mask_required: _, ...scenario } = manifest.scenario
    await writeFile(join(run.out, 'agent.json'), JSON.stringify({ ...manifest, scenario }))
    const older = await loadAgent(run.out)
    expect((await served(older)('/act', { observation: [0] })).body.action).toBeTypeOf('number')
    older.dispose()
  })
})

function served(of: Agent) {
  const app = agentServer([{ name: 'parity', version: null, agent: of }])
  return async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await app.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
}
