import vm from 'node:vm'
import { type AgentCard, type PolicySpec, type SpaceDescription, spaceLeaves } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { goodAgent } from '../../../../testdata/tarballs/good-agent.ts'
import { agentSnippets, hostedSnippets } from './snippets.tsx'

describe('agent snippets', () => {
  const card = (policy: Partial<PolicySpec> = {}): AgentCard => {
    const { scenario, algorithm, steps, evaluation, model_hash } = goodAgent
    const spaces = { observation: [], action: [] }
    return { scenario, spaces, algorithm, steps, evaluation, model_hash, policy: { ...goodAgent.policy, ...policy } }
  }
  const textOf = (agent: AgentCard, title: RegExp) =>
    agentSnippets('@acme/solver', agent, 'https://gym.example').find((one) => title.test(one.title))?.text ?? ''

  /** Runs the snippet for Node.js against a model that answers with these outputs; gives what it asked and decided. */
  function runNode(agent: AgentCard, outputs: Record<string, number[]>) {
    const request: Record<string, unknown>[] = []
    const session = {
      run: (observation: Record<string, unknown>) => {
        request.push(observation)
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
    const InferenceSession = {
      create: (_path: string, options: unknown) => {
        expect(options).toEqual({ extra: { session: { load_model_format: 'ONNX' } } })
        return session
      },
    }
    const context = { InferenceSession, Tensor, Float32Array, Array, console: { log() {} } }
    const action = vm.runInNewContext(`${body}\ntypeof action === 'undefined' ? null : action`, context)
    return { request, action }
  }

  describe('snippets', () => {
    it("return the most likely action in the scenario's numbering", () => {
      const [choice] = goodAgent.policy.action
      const [{ name, size }] = goodAgent.policy.observation
      const { request, action } = runNode(card(), { logits: [0.1, 0.9] })
      expect(action).toBe(1)
      expect(request).toEqual([{ [name]: { type: 'float32', length: size, dims: [1, size] } }])
      const shifted = card({ action: [{ ...choice, start: 5 }] })
      expect(runNode(shifted, { logits: [0.9, 0.1] }).action).toBe(5)
    })

    it('are valid for any input name', () => {
      const [leaf] = goodAgent.policy.observation
      const names = ['"]; process.exit(1); ["', 'a.b', 'a_b', '1', '🚗', '\n"""', "'", '$', '__proto__', 'constructor']
      const agent = card({ observation: names.map((name) => ({ ...leaf, name })) })
      const { request, action } = runNode(agent, { logits: [1, 0] })
      expect(Object.keys(request[0]).sort()).toEqual([...names].sort())
      expect(action).toBe(0)
    })

    it('load the model in the checked format', () => {
      expect(textOf(card(), /^Node/)).toContain('model.onnx", options)')
    })

    it('return all outputs for other actions', () => {
      const [choice] = goodAgent.policy.action
      const agent = card({
        action: [
          { ...choice, name: 'a' },
          { ...choice, name: 'b' },
        ],
      })
      expect(runNode(agent, { 'a.logits': [0, 1], 'b.logits': [1, 0] }).action).toBeNull()
    })

    it('in Python load the agent from this server, with the types of its spaces', () => {
      const numbers: SpaceDescription = { type: 'box', shape: [2], low: [0, 0], high: [1, 1] }
      const word: SpaceDescription = { type: 'text', maxTokens: 4, vocabulary: 9 }
      const choice: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
      const dict: SpaceDescription = { type: 'dict', entries: [{ name: '"""', space: numbers }] }
      const signature = (observation: SpaceDescription, action: SpaceDescription) => {
        const spaces = { observation: spaceLeaves(observation), action: spaceLeaves(action) }
        const text = textOf({ ...card(), spaces }, /^Python/)
        expect(text).toContain('agentgym.load("@acme/solver", server="https://gym.example")')
        return /def act\((.*):\n/.exec(text)?.[1]
      }
      expect(signature(numbers, choice)).toBe('observation: list[float]) -> int')
      expect(signature(word, numbers)).toBe('observation: str) -> list[float]')
      expect(signature(dict, dict)).toBe('observation: dict) -> dict')
      expect(textOf({ ...card(), whole_mask: [true, true] }, /^Python/)).toContain(
        'def act(observation: dict, mask: list) -> dict:',
      )
    })
  })
})

describe('hosted snippets', () => {
  const snippetsOf = (space: SpaceDescription) =>
    hostedSnippets({
      name: '@acme/solver',
      version: '1.2.3',
      server: 'https://gym.example',
      ...{ observation: spaceLeaves(space), action: [] },
    })
  const zeros = (size: number) => Array.from({ length: size }, () => null)

  /** Runs the snippet for Node.js against a client that notes what it was asked. */
  async function runNode(
    space: SpaceDescription,
  ): Promise<{ options: object; request: { messages: { content: string }[] } }> {
    const text = snippetsOf(space).find(({ title }) => /JavaScript/.test(title))?.text ?? ''
    const noted: { options?: object; request?: object } = {}
    class OpenAI {
      constructor(options: object) {
        noted.options = options
      }
      chat = {
        completions: {
          create: async (request: object) => {
            noted.request = request
            return { choices: [{ message: { content: '{"action":1,"label":null}' } }] }
          },
        },
      }
    }
    const body = `(async () => {${text.replace(/^import .*\n/, '')}})()`
    const context = { OpenAI, JSON, Array, process: { env: { AGENTGYM_TOKEN: 'agt_1' } }, console: { log() {} } }
    await vm.runInNewContext(body, context)
    return noted as Awaited<ReturnType<typeof runNode>>
  }

  it('call this server for that version, with the token from the environment', async () => {
    const { options, request } = await runNode({ type: 'box', shape: [2], low: zeros(2), high: zeros(2) })
    expect({ ...options }).toEqual({ baseURL: 'https://gym.example/v1', apiKey: 'agt_1' })
    expect(request).toMatchObject({ model: '@acme/solver@1.2.3', messages: [{ role: 'user', content: '[0,0]' }] })
  })

  describe('of an agent that needs a mask', () => {
    const observation = spaceLeaves({ type: 'box', shape: [2], low: zeros(2), high: zeros(2) })
    const hosted = { name: '@acme/solver', version: '1.2.3', server: 'https://gym.example', observation }
    const run = async (text: string, given: object) => {
      const noted: unknown[] = []
      const context = {
        JSON,
        process: { env: { AGENTGYM_TOKEN: 'agt_1' } },
        console: { log: (said: unknown) => noted.push(said) },
      }
      await vm.runInNewContext(`(async () => {${text.replace(/^import .*\n/, '')}})()`, { ...context, ...given })
      return noted
    }

    it('offer the words that are legal as choices of a decision, or as tools', async () => {
      const action = spaceLeaves({ type: 'discrete', n: 2, start: 0, labels: ['go on', 'stop'] })
      const snippets = hostedSnippets({ ...hosted, action, mask: [true, true] })
      const requests: unknown[] = []
      class OpenAI {
        decisions = {
          create: async (request: unknown) => {
            requests.push(JSON.parse(JSON.stringify(request)))
            return { answers: [{ choice: 'stop' }] }
          },
        }
      }
      const text = snippets.find(({ title }) => /JavaScript/.test(title))?.text ?? ''
      expect(await run(text, { OpenAI })).toEqual(['stop'])
      const question = { type: 'choice', name: 'next', instructions: 'What is next?' }
      const choices = [{ value: 'go on' }, { value: 'stop' }]
      expect(requests).toEqual([{ model: '@acme/solver@1.2.3', input: '[0,0]', questions: [{ ...question, choices }] }])
      expect(snippets.find(({ title }) => /LangChain/.test(title))?.text).toContain('legal = ["go_on","stop"]')
    })

    it('send the mask where the actions have no words', async () => {
      const action = spaceLeaves({ type: 'discrete', n: 2, start: 0 })
      const [{ text }] = hostedSnippets({ ...hosted, action, mask: [true, true] })
      const fetched: unknown[] = []
      const fetch = async (address: string, { body }: { body: string }) => {
        fetched.push([address, JSON.parse(body)])
        return { json: async () => ({ action: 1 }) }
      }
      expect(await run(text, { fetch })).toEqual([1])
      expect(fetched).toEqual([
        [
          'https://gym.example/v1/packages/@acme/solver/calls',
          { version: '1.2.3', observation: [0, 0], action_mask: [true, true] },
        ],
      ])
    })
  })

  it('are valid for any observation names, and short for any size', async () => {
    const names = ['"]; process.exit(1); ["', '__proto__', '\n"""', "'", '</script>', '`']
    const space: SpaceDescription = {
      type: 'dict',
      entries: [
        ...names.map((name) => ({ name, space: { type: 'discrete' as const, n: 3, start: 1 } })),
        { name: 'sight', space: { type: 'box', shape: [40, 40], low: zeros(1600), high: zeros(1600) } },
        { name: 'said', space: { type: 'text', maxTokens: 4, vocabulary: 9 } },
      ],
    }
    const { request } = await runNode(space)
    const observation = JSON.parse(request.messages[0].content)
    expect(Object.keys(observation)).toEqual([...names, 'sight', 'said'])
    expect(observation.sight).toEqual(Array.from({ length: 1600 }, () => 0))
    for (const { text } of snippetsOf(space)) expect(text.length).toBeLessThan(1_000)
  })
})
