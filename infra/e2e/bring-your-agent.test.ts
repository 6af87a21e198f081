// @module-tag full
// From the tools and the traces of an agent to a policy that picks its tools.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadAgent } from '@agentgym/agent'
import { checkReportSchema } from '@agentgym/contract'
import { runCli } from '@agentgym/testkit/command-line'
import { isLong } from '@agentgym/testkit/tier'
import { tool as aiTool, asSchema } from 'ai'
import { tool as langchainTool } from 'langchain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { observationOf } from '../../sdk/cli/templates/from-traces/src/observe.ts'
import { type SupportPolicy, supportEpisodes, supportFormats } from '../../sdk/cli/test/logged-support.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-bring-'))
const options = { cwd: folder, environment: { AGENTGYM_HOME: join(folder, 'home') } }
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(...words: string[]): Promise<Record<string, unknown>> {
  const { status, lines, stdout, stderr } = await runCli([...words, '--json'], options)
  expect(status, stdout + stderr).toBe(0)
  return lines.at(-1) as Record<string, unknown>
}

async function expectChecked(name: string): Promise<void> {
  const report = checkReportSchema.parse(await run('scenario', 'check', name))
  expect(report.checks.filter(({ ok }) => !ok)).toEqual([])
}

const reason = z.enum(['late', 'broken', 'wrong item'])
const languageSchemas = {
  'the AI SDK': () => {
    const tools = {
      searchOrders: aiTool({
        description: 'Search the orders of the customer',
        inputSchema: z.object({ query: z.string() }),
      }),
      refundOrder: aiTool({
        description: 'Refund an order',
        inputSchema: z.object({ orderId: z.string(), reason, percent: z.number().int().min(0).max(100) }),
      }),
      escalate: aiTool({ description: 'Hand over to a person', inputSchema: z.object({ urgent: z.boolean() }) }),
    }
    return Object.entries(tools).map(([name, { description, inputSchema }]) => ({
      ...{ name, description },
      inputSchema: asSchema(inputSchema as never).jsonSchema,
    }))
  },
  LangChain: () => {
    const done = () => 'done'
    const tools = [
      langchainTool(done, {
        name: 'find_customer',
        description: 'Find a customer',
        schema: z.object({ email: z.string() }),
      }),
      langchainTool(done, {
        name: 'list_orders',
        description: 'List orders',
        schema: z.object({ customer_id: z.string() }),
      }),
      langchainTool(done, {
        name: 'refund',
        description: 'Refund an order',
        schema: z.object({ order_id: z.string(), reason }),
      }),
    ]
    return tools.map(({ name, description, schema }) => ({
      ...{ name, description },
      schema: z.toJSONSchema(schema as z.ZodType),
    }))
  },
}

type Framework = keyof typeof languageSchemas
const made = new Map<string, Promise<string>>()

/** Does a step once, whichever test needs it first. */
function once(step: string, work: () => Promise<string>): Promise<string> {
  const begun = made.get(step) ?? work()
  made.set(step, begun)
  return begun
}

/** Name of the scenario from the tools of a framework's agent. */
function scenarioOf(framework: Framework): Promise<string> {
  const name = `tools-of-${framework.replace(/\W+/g, '-').toLowerCase()}`
  return once(name, async () => {
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(languageSchemas[framework]()))
    await run('scenario', 'from-tools', `${name}.json`, '--out', name)
    return name
  })
}

/** Name of the folder of an agent that was trained on it for a short time. */
async function agentOf(framework: Framework): Promise<string> {
  const scenario = await scenarioOf(framework)
  const agent = `${scenario}-agent`
  return once(agent, async () => {
    await run('train', scenario, '--steps', '60000', '--seed', '1', '--out', agent)
    return agent
  })
}

const frameworks = Object.keys(languageSchemas) as Framework[]

describe.each(frameworks)('the tools of an agent of %s', (framework) => {
  it('become a scenario that passes its checks and its tests', async () => {
    const name = await scenarioOf(framework)
    await expectChecked(name)
    expect(await run('scenario', 'test', name)).toMatchObject({ ok: true, passed: 2, failed: 0 })
  })

  // What is trained on differs in names alone, so one framework stands for all.
  if (isLong || framework === frameworks[0]) {
    it('and a short training finds most of what they take', async () => {
      const { metrics } = (await run('eval', await agentOf(framework))) as { metrics: { solved: number } }
      // A random policy solves less than one in ten.
      expect(metrics.solved).toBeGreaterThan(0.6)
    })
  }
})

it('tools with hostile names and words become a scenario that passes its checks', async () => {
  const text = '\'"`$' + '{process.exit(1)}` */ //\n\u2028\u202e</script>{slot}'
  const schema = {
    type: 'object',
    properties: { [text]: { enum: [text, 'b'] }, __proto__id: { type: 'string' }, 'a b_id': { type: 'string' } },
  }
  const tools = [text, '__proto__', 'constructor', 'tool', 'class', `${text}!`].map((name) => ({
    ...{ name, description: text, inputSchema: schema },
  }))
  writeFileSync(join(folder, 'hostile.json'), JSON.stringify(tools))
  await run('scenario', 'from-tools', 'hostile.json', '--out', 'hostile')
  await expectChecked('hostile')
  expect(await run('scenario', 'test', 'hostile')).toMatchObject({ ok: true })
})

it('the tools of an MCP server become a scenario that passes its checks', async () => {
  const script = fileURLToPath(new URL('../../sdk/cli/test/mcp-tickets.process.ts', import.meta.url))
  await run('scenario', 'from-tools', '--mcp', `"${process.execPath}" "${script}"`, '--out', 'from-mcp')
  await expectChecked('from-mcp')
})

describe('the traces of an agent', () => {
  const logged = supportEpisodes(3_000)
  beforeAll(async () => {
    writeFileSync(join(folder, 'traces.jsonl'), supportFormats.opentelemetry(logged))
    await run('scenario', 'from-traces', 'traces.jsonl', '--out', 'traces')
  })

  const traceAgent = () =>
    once('trace-agent', async () => {
      await run('train', 'traces', '--steps', '150000', '--seed', '1', '--out', 'trace-agent')
      return 'trace-agent'
    })

  it('become a scenario that passes its checks and its tests, and holds no address', async () => {
    await expectChecked('traces')
    expect(await run('scenario', 'test', 'traces')).toMatchObject({ ok: true, passed: 2 })
    expect(readFileSync(join(folder, 'traces/src/log.json'), 'utf8')).not.toContain('@example.com')
  })

  it('train an agent that beats the logged one, as the log itself can tell', async () => {
    const trained = await traceAgent()
    const { metrics } = (await run('eval', trained)) as { metrics: { solved: number; cost_reduction: number } }
    const before = logged.filter(({ solved }) => solved).length / logged.length
    expect(metrics.solved).toBeGreaterThan(before)
    expect(metrics.cost_reduction).toBeGreaterThan(0)

    // What the agent does to real customers, whose value only a simulation knows.
    const agent = await loadAgent(join(folder, trained))
    const tools = (agent.labels ?? []).slice(0, -1)
    const policy: SupportPolicy = (request, calls) => {
      const seen = calls.map(({ name, failed, result }) => ({ tool: name, failed, result: failed ? '' : result }))
      return agent.act(observationOf(request, seen, tools)).label ?? ''
    }
    const played = supportEpisodes(4_000, 2, policy)
    const truth = played.filter(({ solved }) => solved).length / played.length
    agent.dispose()

    const estimate = await run('eval', trained, '--on-traces', 'traces.jsonl')
    expect(estimate).toMatchObject({ policy: 'greedy', episodes: 3_000, logged: { mean: expect.closeTo(before, 6) } })
    for (const name of ['doubly_robust', 'weighted_importance_sampling'] as const) {
      const { low, high } = estimate[name] as { low: number; high: number }
      // Four standard errors of the simulated truth beside the interval.
      const slack = 4 * Math.sqrt((truth * (1 - truth) + 0.001) / played.length)
      expect(truth).toBeGreaterThan(low - slack)
      expect(truth).toBeLessThan(high + slack)
    }
    expect((estimate.improvement as { low: number }).low).toBeGreaterThan(0)

    // A log whose tools have names that the scenario could not keep.
    const renamed = supportFormats.opentelemetry(logged).replaceAll(/search_orders(?! done)/g, 'search.orders')
    writeFileSync(join(folder, 'renamed.jsonl'), renamed)
    expect(await run('eval', trained, '--on-traces', 'renamed.jsonl')).toEqual(estimate)
  })

  it('give no estimate where they carry none', async () => {
    const refused = async (file: string, text: string) => {
      writeFileSync(join(folder, file), text)
      const { status, lines } = await runCli(['eval', await traceAgent(), '--on-traces', file, '--json'], options)
      expect(status).toBe(1)
      return (lines[0] as { error: object }).error
    }
    const some = logged.slice(0, 300)
    const quiet = supportFormats.messages(some.map((episode) => ({ ...episode, probabilities: [] })))
    expect(await refused('quiet.jsonl', quiet)).toMatchObject({
      code: 'estimate_refused',
      data: { reason: 'no_probabilities' },
    })
    const unscored = supportFormats.messages(some).replaceAll(/"solved":(true|false),/g, '')
    expect(await refused('unscored.jsonl', unscored)).toMatchObject({ data: { reason: 'no_outcomes' } })
    const others = supportFormats.messages(some).replaceAll('"escalate"', '"transfer"')
    expect(await refused('others.jsonl', others)).toMatchObject({ data: { reason: 'tools', tool: 'transfer' } })
  })
})

it('a decision log estimates an agent of any tool scenario', async () => {
  const name = await agentOf('LangChain')
  const agent = await loadAgent(join(folder, name))
  const tools = agent.labels ?? []
  const observation = { request: 'Please find customer.', called: [0, 0], customers: [], orders: [] }
  const chosen = agent.act(observation, { mask: null }).label
  agent.dispose()
  const lines = Array.from({ length: 120 }, (_, i) => {
    const action = tools[i % 2]
    return JSON.stringify({ steps: [{ observation, action, probability: 0.5 }], outcome: action === chosen ? 1 : 0 })
  })
  writeFileSync(join(folder, 'decisions.jsonl'), lines.join('\n'))
  const estimate = await run('eval', name, '--on-traces', 'decisions.jsonl')
  expect(estimate).toMatchObject({
    ...{ episodes: 120, agreement: 0.5, effective_sample_size: 60, logged: { mean: 0.5 } },
    weighted_importance_sampling: { mean: 1 },
  })
})
