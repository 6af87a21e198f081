// What the buyer does with the agent: it picks the tools of an agent of LangChain, beside the same one whose tools are picked by
// keywords. No language model is asked for a choice; a scripted one stands where the last answer is written.
import { styleText } from 'node:util'
import { type Agent, loadAgent } from '@agentgym/agent'
import { toolPolicyMiddleware } from '@agentgym/agent/langchain'
import { createRng } from '@agentgym/scenario'
import { AIMessage, createAgent, createMiddleware, fakeModel, tool } from 'langchain'
import { z } from 'zod'
import support from '../../plugins/customer-support/src/index.ts'
import { type Kind, rulesFor } from '../../plugins/customer-support/src/rules.ts'
import { type ToolName, tools } from '../../plugins/customer-support/src/support-case.ts'

type SupportObservation = { ticket: string; found: number[]; done: number[]; calls: number[] }

const TICKETS = 100
/** Neither training nor the evaluation has seen these. */
const FIRST = 900_000_000
const names = Object.keys(tools) as ToolName[]

/** What a support team would write first: the obvious words for each kind of ticket. */
const obviousWords: Record<Kind, RegExp> = {
  password_reset: /password|log ?in|reset/gi,
  refund: /refund|money back|charged/gi,
  api_integration: /\bapi\b|sdk|webhook|endpoint/gi,
  data_migration: /migrat|import|csv/gi,
  billing_inquiry: /invoice|\bbill|\bfee\b|tax/gi,
}

/** Which tools a ticket allows now, what is seen of it, and what a call does: an application's back end. */
class Ticket {
  done = false
  readonly #given
  readonly #episode

  constructor(index: number) {
    this.#given = { rng: createRng(index), task: { split: 'eval' as const, index } }
    this.#episode = support.reset(this.#given as never)
  }

  get observation(): SupportObservation {
    return support.observe(this.#episode as never) as SupportObservation
  }

  get available(): ToolName[] {
    const mask = support.actionMask?.(this.#episode as never) as boolean[]
    return names.filter((_, i) => mask[i])
  }

  call(name: ToolName): string {
    const { terminated } = support.step(this.#episode as never, names.indexOf(name) as never, this.#given as never) as {
      terminated: boolean
    }
    this.done = terminated || this.metrics.tool_calls >= support.maxSteps
    return JSON.stringify(this.observation)
  }

  get metrics(): Record<string, number> {
    return support.metrics?.(this.#episode as never) as Record<string, number>
  }
}

/** Who picks the tool, as middleware of LangChain. */
type Picker = (ticket: Ticket) => ReturnType<typeof createMiddleware>

const byAgent =
  (agent: Agent): Picker =>
  (ticket) =>
    toolPolicyMiddleware({ agent, isDone: () => ticket.done }) as ReturnType<typeof createMiddleware>

type Rules = (seen: SupportObservation, available: readonly ToolName[]) => ToolName

const firstRules: Rules = (seen, available) => rulesFor(seen, available, obviousWords)
/** The scenario's own, whose words were chosen with the tickets at hand. */
const tunedRules: Rules = (seen, available) => rulesFor(seen, available)

const byRules =
  (rules: Rules): Picker =>
  (ticket) =>
    createMiddleware({
      name: 'KeywordRules',
      wrapModelCall: (request, handler) => {
        if (ticket.done) return handler({ ...request, tools: [], toolChoice: 'none' })
        const name = rules(ticket.observation, ticket.available)
        return new AIMessage({ content: '', tool_calls: [{ type: 'tool_call', id: `call_${name}`, name, args: {} }] })
      },
    })

/** An agent of LangChain handles one ticket, with the tools that the ticket allows. */
async function handle(ticket: Ticket, picker: Picker): Promise<void> {
  const offered = names.map((name) =>
    tool(() => ticket.call(name), { name, description: tools[name].description, schema: z.object({}) }),
  )
  const available = createMiddleware({
    name: 'AvailableTools',
    wrapModelCall: (request, handler) =>
      handler({ ...request, tools: request.tools.filter(({ name }) => ticket.available.includes(name as ToolName)) }),
  })
  const model = fakeModel().respond(new AIMessage('The ticket has been handled.'))
  const agent = createAgent({ model, tools: offered, middleware: [available, picker(ticket)] })
  const messages = [{ role: 'user' as const, content: JSON.stringify(ticket.observation) }]
  await agent.invoke({ messages }, { recursionLimit: 100 })
}

type Row = { solved: number; right: number; calls: number; tokens: number; seconds: number }

/** Means over the tickets. */
async function handleAll(picker: Picker): Promise<Row> {
  const sums: Row = { solved: 0, right: 0, calls: 0, tokens: 0, seconds: 0 }
  for (let index = FIRST; index < FIRST + TICKETS; index += 1) {
    const ticket = new Ticket(index)
    await handle(ticket, picker)
    const { solved, tool_reliability: right, tool_calls: calls, tokens, seconds } = ticket.metrics
    for (const [name, value] of Object.entries({ solved, right, calls, tokens, seconds }))
      sums[name as keyof Row] += value / TICKETS
  }
  return sums
}

/** How long a choice takes on this machine, in microseconds: the median of many. */
function choiceTime(choose: (ticket: Ticket) => void): number {
  const times = Array.from({ length: 200 }, (_, i) => {
    const ticket = new Ticket(FIRST + (i % TICKETS))
    const start = performance.now()
    choose(ticket)
    return (performance.now() - start) * 1_000
  })
  return times.toSorted((a, b) => a - b)[times.length / 2]
}

const [target] = process.argv.slice(2)
const agent = await loadAgent(target)
const players: [name: string, row: Row, microseconds: number][] = [
  ...(await Promise.all(
    Object.entries({ 'keyword rules, first': firstRules, 'keyword rules, tuned': tunedRules }).map(
      async ([name, rules]): Promise<[string, Row, number]> => [
        name,
        await handleAll(byRules(rules)),
        choiceTime((ticket) => rules(ticket.observation, ticket.available)),
      ],
    ),
  )),
  [target, await handleAll(byAgent(agent)), choiceTime((ticket) => agent.act(ticket.observation, { mask: null }))],
]
const percent = (share: number) => `${(100 * share).toFixed(0)}%`
const columns: [title: string, write: (row: Row, microseconds: number) => string][] = [
  ['solved', ({ solved }) => percent(solved)],
  ['right calls', ({ right }) => percent(right)],
  ['tokens/solved', ({ tokens, solved }) => (tokens / solved).toFixed(0)],
  ['time', ({ seconds }) => `${seconds.toFixed(1)} s`],
  ['choice', (_, microseconds) => `${microseconds.toFixed(0)} µs`],
]
const width = Math.max(...players.map(([name]) => name.length), 'Tools picked by'.length)
const line = (name: string, cells: string[]) =>
  `  ${name.padEnd(width)}${cells.map((cell, i) => cell.padStart(columns[i][0].length + 3)).join('')}`
const titles = columns.map(([title]) => title)
console.log(styleText('bold', line('Tools picked by', titles)))
for (const [name, row, microseconds] of players)
  console.log(
    line(
      name,
      columns.map(([, write]) => write(row, microseconds)),
    ),
  )
console.log(
  styleText(
    'dim',
    `  ${TICKETS} new tickets, the same for all, in createAgent of LangChain. Tokens and time are what the tools cost.\n` +
      '  Rules know every procedure: first with the obvious words for each kind of ticket, then with words chosen while\n' +
      '  reading tickets such as these. The agent was told neither: it learned both from outcomes.',
  ),
)
agent.dispose()
