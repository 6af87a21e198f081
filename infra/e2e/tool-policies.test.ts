import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { decisionModel, prepareToolStep, toolPolicyModel } from '@agentgym/agent/ai-sdk'
import { type ToolChoice, toolPolicyMiddleware } from '@agentgym/agent/langchain'
import { prepareToolStep as prepareMastraStep } from '@agentgym/agent/mastra'
import { toolPolicyProvider } from '@agentgym/agent/openai-agents'
import { agentServer, type Listening, listenAgents } from '@agentgym/agent/server'
import { describeScenario } from '@agentgym/scenario/engine'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { createTool as toolOfMastra } from '@mastra/core/tools'
import { type Model, Agent as OpenAiAgent, Runner, tool as toolOfOpenAi, Usage } from '@openai/agents'
import {
  experimental_decide,
  generateText,
  isStepCount,
  simulateReadableStream,
  streamText,
  type ToolSet,
  tool as toolOfAiSdk,
} from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { AIMessage, createAgent, fakeModel, tool as toolOfLangChain } from 'langchain'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import support from '../../plugins/customer-support/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { played, Ticket, tickets } from './held-out-tickets.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-policies-'))
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

const finishReason = { unified: 'stop' as const, raw: undefined }

/** The same for AI SDK and Mastra. */
function writer() {
  return new MockLanguageModelV4({
    doGenerate: async () => ({ content: [{ type: 'text', text: 'Done.' }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] },
          { type: 'text-start', id: 't1' },
          { type: 'text-delta', id: 't1', delta: 'Done.' },
          { type: 'text-end', id: 't1' },
          { type: 'finish', usage, finishReason },
        ],
      }),
    }),
  })
}

function aiSdkTools(ticket: Ticket): ToolSet {
  return Object.fromEntries(
    words.map((name) => [
      name,
      toolOfAiSdk({ description: name, inputSchema: z.object({}), execute: () => ticket.call(name) }),
    ]),
  )
}

async function throughAiSdk(ticket: Ticket): Promise<void> {
  const tools = aiSdkTools(ticket)
  const model = writer()
  const prepareStep = prepareToolStep(tools, { agent, isDone: () => ticket.done })
  const { text } = await generateText({
    model,
    tools,
    prepareStep,
    prompt: ticket.observation,
    stopWhen: isStepCount(20),
  })
  expect(text).toBe('Done.')
  // The tools need no arguments, so the language model is asked for the text alone.
  expect(model.doGenerateCalls).toHaveLength(1)
}

/** The same in place of the language model, streamed. */
async function throughAiSdkModel(ticket: Ticket): Promise<void> {
  const model = toolPolicyModel({ agent, model: writer(), isDone: () => ticket.done })
  const { text } = streamText({
    model,
    tools: aiSdkTools(ticket),
    prompt: ticket.observation,
    stopWhen: isStepCount(20),
  })
  expect(await text).toBe('Done.')
}

async function throughMastra(ticket: Ticket): Promise<void> {
  const tools = Object.fromEntries(
    words.map((id) => [
      id,
      toolOfMastra({ id, description: id, inputSchema: z.object({}), execute: async () => ticket.call(id) }),
    ]),
  )
  // Mastra's types know models of providers alone.
  const model = writer() as never
  const clerk = new MastraAgent({ id: 'clerk', name: 'clerk', instructions: 'Solve the ticket.', model, tools })
  const prepareStep = prepareMastraStep({ agent, isDone: () => ticket.done })
  const { text } = await clerk.generate(ticket.observation, { maxSteps: 20, prepareStep })
  expect(text).toBe('Done.')
}

/** A language model that only writes: it has no part in the choice of tools. */
const writingModel: Model = {
  async getResponse() {
    const content = [{ type: 'output_text' as const, text: 'Done.' }]
    return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content }] }
  },
  async *getStreamedResponse(request) {
    const { output } = await this.getResponse(request)
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 }
    yield { type: 'response_done', response: { id: 'r1', usage, output: output as never } }
  },
}

async function throughOpenAiAgents(ticket: Ticket, stream = false): Promise<void> {
  const tools = words.map((name) =>
    toolOfOpenAi({ name, description: name, parameters: z.object({}), execute: () => ticket.call(name) }),
  )
  const clerk = new OpenAiAgent({ name: 'clerk', instructions: 'Solve the ticket.', model: 'any', tools })
  const provider = { getModel: () => writingModel }
  const modelProvider = toolPolicyProvider({ agent, provider, isDone: () => ticket.done })
  const runner = new Runner({ modelProvider, tracingDisabled: true })
  const options = { maxTurns: 20 }
  if (!stream) {
    expect((await runner.run(clerk, ticket.observation, options)).finalOutput).toBe('Done.')
    return
  }
  const streamed = await runner.run(clerk, ticket.observation, { ...options, stream: true })
  await streamed.completed
  expect(streamed.finalOutput).toBe('Done.')
}

const throughOpenAiAgentsStreamed = (ticket: Ticket) => throughOpenAiAgents(ticket, true)

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
  const ways = {
    ...{ throughLangChain, throughAiSdk, throughAiSdkModel, throughMastra, throughOpenAiAgents },
    ...{ throughOpenAiAgentsStreamed, throughDecisions, throughOpenAi },
  }
  it.each(Object.entries(ways))('are handled by the same tools in the same order %s', async (_, handle) => {
    for (const index of tickets) {
      const ticket = new Ticket(index)
      await handle(ticket)
      expect(ticket.called).toEqual(played(agent, index))
    }
    // Otherwise the same order would say nothing.
    expect(new Set(tickets.map((index) => played(agent, index).join())).size).toBeGreaterThan(1)
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
