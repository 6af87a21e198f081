import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, loadAgent } from '@agentgym/agent'
import { prepareToolStep, toolPolicyModel } from '@agentgym/agent/ai-sdk'
import { toolPolicyMiddleware } from '@agentgym/agent/langchain'
import { prepareToolStep as prepareMastraStep } from '@agentgym/agent/mastra'
import { toolPolicyModel as openAiPolicyModel } from '@agentgym/agent/openai-agents'
import { describeScenario } from '@agentgym/scenario/engine'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { createTool as toolOfMastra } from '@mastra/core/tools'
import { type Model, Agent as OpenAiAgent, Runner, tool as toolOfOpenAi, Usage } from '@openai/agents'
import { generateText, isStepCount, tool as toolOfAiSdk } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { AIMessage, createAgent, fakeModel, tool as toolOfLangChain } from 'langchain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import support from '../../plugins/customer-support/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const home = mkdtempSync(join(tmpdir(), 'agentgym-adapters-'))
const ticket = { ticket: 'I was charged twice', found: [0, 0, 0, 0, 0], done: [0, 0, 0, 0, 0, 0], calls: [0] }
const prompt = JSON.stringify(ticket)
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
let agent: Agent

beforeAll(async () => {
  agent = await loadAgent(writeRandomAgent(join(home, 'support'), 'support', describeScenario(support)).folder)
})
afterAll(() => {
  agent.dispose()
  rmSync(home, { recursive: true })
})

const rules = { doneAfter: ['close_ticket'], maxCalls: 3 }
const note = z.object({ note: z.string() })
/** What the language model writes into every tool that it has to call. */
const written = { note: 'hello' }

/** Obedient, as a language model is that is forced to call a tool: it never stops by itself. */
function languageModel() {
  return new MockLanguageModelV4({
    doGenerate: async ({ toolChoice }) => {
      const finishReason = {
        unified: toolChoice?.type === 'tool' ? ('tool-calls' as const) : ('stop' as const),
        raw: undefined,
      }
      const call = toolChoice?.type === 'tool' && {
        ...{
          type: 'tool-call' as const,
          toolCallId: randomUUID(),
          toolName: toolChoice.toolName,
          input: JSON.stringify(written),
        },
      }
      return { content: [call || { type: 'text', text: 'Done.' }], finishReason, usage, warnings: [] }
    },
  })
}

const openAiModel: Model = {
  async getResponse({ modelSettings: { toolChoice } }) {
    const isForced = agent.labels?.includes(toolChoice ?? '')
    const content = [{ type: 'output_text' as const, text: 'Done.' }]
    return {
      usage: new Usage(),
      output: isForced
        ? [
            {
              type: 'function_call',
              callId: randomUUID(),
              name: toolChoice ?? '',
              arguments: JSON.stringify(written),
              status: 'completed',
            },
          ]
        : [{ type: 'message', role: 'assistant', status: 'completed', content }],
    }
  },
  getStreamedResponse: () => {
    throw new Error('not streamed')
  },
}

type Run = (names: readonly string[], execute: (name: string, given: unknown) => string) => Promise<string>

const ways: Record<string, Run> = {
  async LangChain(names, execute) {
    const tools = names.map((name) =>
      toolOfLangChain((given) => execute(name, given), { name, description: name, schema: note }),
    )
    // It says one thing after another, whatever it is asked.
    const model = fakeModel()
    const calls = names[0] === 'close_ticket' ? 1 : 3
    for (let i = 0; i < calls; i += 1) model.respondWithTools([{ name: names[0], args: written, id: `c${i}` }])
    const clerk = createAgent({
      ...{ model: model.respond(new AIMessage('Done.')), tools },
      middleware: [toolPolicyMiddleware({ agent, ...rules })],
    })
    const { messages } = await clerk.invoke({ messages: [{ role: 'user', content: prompt }] }, { recursionLimit: 60 })
    return messages.at(-1)?.text ?? ''
  },
  async 'AI SDK, prepareStep'(names, execute) {
    const tools = aiSdkTools(names, execute)
    const prepareStep = prepareToolStep(tools, { agent, ...rules })
    return (await generateText({ model: languageModel(), tools, prepareStep, prompt, stopWhen: isStepCount(20) })).text
  },
  async 'AI SDK, language model'(names, execute) {
    const model = toolPolicyModel({ agent, model: languageModel(), ...rules })
    const tools = aiSdkTools(names, execute)
    return (await generateText({ model, tools, prompt, stopWhen: isStepCount(20) })).text
  },
  async Mastra(names, execute) {
    const tools = Object.fromEntries(
      names.map((id) => [
        id,
        toolOfMastra({ id, description: id, inputSchema: note, execute: async (given) => execute(id, given) }),
      ]),
    )
    const clerk = new MastraAgent({ id: 'c', name: 'c', instructions: '', model: languageModel() as never, tools })
    return (await clerk.generate(prompt, { maxSteps: 20, prepareStep: prepareMastraStep({ agent, ...rules }) })).text
  },
  async 'OpenAI Agents'(names, execute) {
    const tools = names.map((name) =>
      toolOfOpenAi({ name, description: name, parameters: note, execute: (given) => execute(name, given) }),
    )
    const model = openAiPolicyModel({ agent, model: openAiModel, ...rules })
    const clerk = new OpenAiAgent({ name: 'clerk', instructions: '', model, tools })
    const { finalOutput } = await new Runner({ tracingDisabled: true }).run(clerk, prompt, { maxTurns: 20 })
    return String(finalOutput)
  },
}

function aiSdkTools(names: readonly string[], execute: (name: string, given: unknown) => string) {
  return Object.fromEntries(
    names.map((name) => [
      name,
      toolOfAiSdk({ description: name, inputSchema: note, execute: (given: unknown) => execute(name, given) }),
    ]),
  )
}

describe.each(Object.entries(ways))('%s', (_, run) => {
  it('lets the language model write the arguments that a tool requires, and stops after the most calls', async () => {
    const called: unknown[] = []
    const execute = (name: string, given: unknown) => {
      called.push([name, given])
      return prompt
    }
    // One tool, which the observation makes the policy pick again and again.
    expect(await run(['lookup_user'], execute)).toBe('Done.')
    expect(called).toEqual([1, 2, 3].map(() => ['lookup_user', written]))
  })

  it('stops after a tool that ends the work', async () => {
    const called: string[] = []
    const execute = (name: string) => {
      called.push(name)
      return prompt
    }
    const text = await run(['close_ticket'], execute)
    expect(text).toBe('Done.')
    expect(called).toEqual(['close_ticket'])
  })
})
