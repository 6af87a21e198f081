import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { decisionModel, prepareToolStep } from '@agentgym/agent/ai-sdk'
import { type ToolChoice, toolPolicyMiddleware } from '@agentgym/agent/langchain'
import { agentServer, type Listening, listenAgents } from '@agentgym/agent/server'
import { createRng } from '@agentgym/scenario'
import { describeScenario } from '@agentgym/scenario/engine'
import { experimental_decide, generateText, isStepCount, type ToolSet, tool as toolOfAiSdk } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { AIMessage, createAgent, fakeModel, tool as toolOfLangChain } from 'langchain'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import support from '../../plugins/customer-support/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-policies-'))
const CALLS = 5
const tickets = Array.from({ length: 20 }, (_, i) => 1_000_000 + 7_919 * i)
let agent: Agent
let words: string[]
let server: Listening

beforeAll(async () => {
  const { folder } = writeRandomAgent(join(home, 'support'), 'support', describeScenario(support))
  agent = await loadAgent(folder)
  words = agent.labels ?? []
  server = await listenAgents(agentServer([{ name: 'support', version: null, agent }]), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server.close()
  agent.dispose()
  rmSync(home, { recursive: true })
})

/** The back end of one held-out ticket: its tools return the new observation, as an application's would. */
class Ticket {
  readonly called: string[] = []
  #done = false
  readonly #given
  readonly #state

  constructor(index: number) {
    this.#given = { rng: createRng(index), task: { split: 'eval' as const, index } }
    this.#state = support.reset(this.#given as never)
  }

  get observation(): string {
    return JSON.stringify(support.observe(this.#state as never))
  }

  /** After a few calls an application would stop, too: the weights are random. */
  get done(): boolean {
    return this.#done || this.called.length >= CALLS
  }

  call(name: string): string {
    this.called.push(name)
    const outcome = support.step(this.#state as never, words.indexOf(name) as never, this.#given as never)
    this.#done = (outcome as { terminated: boolean }).terminated
    return this.observation
  }
}

/** What the policy does with every ticket on its own. */
function played(index: number): string[] {
  const ticket = new Ticket(index)
  while (!ticket.done) ticket.call(agent.act(JSON.parse(ticket.observation)).label ?? '')
  return ticket.called
}

async function throughLangChain(ticket: Ticket): Promise<void> {
  const tools = words.map((name) =>
    toolOfLangChain(() => ticket.call(name), { name, description: name, schema: z.object({}) }),
  )
  const middleware = [toolPolicyMiddleware({ agent, isDone: () => ticket.done })]
  const model = fakeModel().respond(new AIMessage('Done.'))
  const { messages } = await createAgent({ model, tools, middleware }).invoke(
    { messages: [{ role: 'user', content: ticket.observation }] },
    { recursionLimit: 100 },
  )
  expect(messages.at(-1)?.text).toBe('Done.')
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

async function throughAiSdk(ticket: Ticket): Promise<void> {
  const tools: ToolSet = Object.fromEntries(
    words.map((name) => [
      name,
      toolOfAiSdk({ description: name, inputSchema: z.object({}), execute: () => ticket.call(name) }),
    ]),
  )
  // A language model that does what it is told, and writes the arguments.
  const model = new MockLanguageModelV4({
    doGenerate: async ({ toolChoice }) => {
      const call = toolChoice?.type === 'tool' ? toolChoice.toolName : undefined
      return {
        content:
          call === undefined
            ? [{ type: 'text', text: 'Done.' }]
            : [{ type: 'tool-call', toolCallId: `c${ticket.called.length}`, toolName: call, input: '{}' }],
        finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
  const prepareStep = prepareToolStep(tools, { agent, isDone: () => ticket.done })
  const { text } = await generateText({
    model,
    tools,
    prepareStep,
    prompt: ticket.observation,
    stopWhen: isStepCount(20),
  })
  expect(text).toBe('Done.')
}

async function throughDecisions(ticket: Ticket): Promise<void> {
  const criteria = Object.fromEntries(words.map((word) => [word, null]))
  while (!ticket.done) {
    const { answers } = await experimental_decide({
      ...{ model: decisionModel(agent), state: JSON.parse(ticket.observation) },
      questions: { tool: { type: 'choice', instructions: 'Which tool is next?', criteria } },
    })
    ticket.call(answers.tool.choice)
  }
}

async function throughOpenAi(ticket: Ticket): Promise<void> {
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })
  const tools = words.map((name) => ({ type: 'function' as const, function: { name, parameters: {} } }))
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: ticket.observation }]
  while (!ticket.done) {
    const { choices } = await client.chat.completions.create({ model: 'support', messages, tools })
    const [{ message }] = choices
    const [call] = message.tool_calls ?? []
    if (call?.type !== 'function') throw new Error('no tool was called')
    messages.push(message, { role: 'tool', tool_call_id: call.id, content: ticket.call(call.function.name) })
  }
}

describe('twenty held-out tickets', () => {
  const ways = { throughLangChain, throughAiSdk, throughDecisions, throughOpenAi }
  it.each(Object.entries(ways))('are handled by the same tools in the same order %s', async (_, handle) => {
    for (const index of tickets) {
      const ticket = new Ticket(index)
      await handle(ticket)
      expect(ticket.called).toEqual(played(index))
    }
    // Otherwise the same order would say nothing.
    expect(new Set(tickets.map((index) => played(index).join())).size).toBeGreaterThan(1)
  })
})

describe('the middleware of LangChain', () => {
  const ask = async (
    options: Partial<Parameters<typeof toolPolicyMiddleware>[0]>,
    offered = words,
    extra: string[] = [],
  ) => {
    const ticket = new Ticket(tickets[0])
    const choices: ToolChoice[] = []
    const names = [...offered, ...extra]
    const tools = names.map((name) =>
      toolOfLangChain(() => ticket.observation, { name, description: name, schema: z.object({}) }),
    )
    const model = fakeModel()
      .respondWithTools([{ name: names[0], args: {}, id: 'c1' }])
      .respond(new AIMessage('Done.'))
    const isDone = (messages: { length: number }) => messages.length > 2
    const middleware = [toolPolicyMiddleware({ agent, isDone, onChoice: (choice) => choices.push(choice), ...options })]
    await createAgent({ model, tools, middleware }).invoke({
      messages: [{ role: 'user', content: ticket.observation }],
    })
    return choices
  }
  const likeliest = () => agent.act(JSON.parse(new Ticket(tickets[0]).observation))

  it('leaves the choice to the language model below the threshold, and reports both', async () => {
    const [choice] = await ask({ threshold: 1.01 })
    expect(choice).toMatchObject({ policy: { tool: likeliest().label }, model: [words[0]] })
    const sure = await ask({ threshold: 0 })
    expect(sure[0]).toMatchObject({ policy: { tool: likeliest().label }, model: null })
  })

  it('leaves it with tools that the policy does not know, but for those that it may ignore', async () => {
    expect((await ask({}, words, ['order_pizza']))[0]).toMatchObject({ policy: null, model: [words[0]] })
    expect((await ask({ otherTools: ['order_pizza'] }, words, ['order_pizza']))[0]).toMatchObject({
      policy: { tool: likeliest().label },
      model: null,
    })
  })

  it('advises, and narrows to the likeliest tools', async () => {
    expect((await ask({ mode: 'advise' }))[0]).toMatchObject({ policy: { tool: likeliest().label }, model: [words[0]] })
    const [{ policy }] = await ask({ mode: 'narrow', keep: words.length })
    const probabilities = new Map(likeliest().choices?.map(({ label, probability }) => [label, probability]))
    const ranked = policy?.ranked.map((name) => probabilities.get(name) ?? 0) ?? []
    expect(ranked).toHaveLength(words.length)
    expect(ranked).toEqual(ranked.toSorted((a, b) => b - a))
  })
})

it('a decision model refuses what the agent does not know', async () => {
  const state = JSON.parse(new Ticket(tickets[0]).observation)
  const criteria = { [words[0]]: null, order_pizza: null }
  const questions = { tool: { type: 'choice' as const, instructions: 'Which?', criteria } }
  await expect(experimental_decide({ model: decisionModel(agent), state, questions })).rejects.toThrow(/refus|declin/i)
})
