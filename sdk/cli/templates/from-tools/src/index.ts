/**
 * Read a request and call the right tool, with the right arguments. Made from the tools of an agent: replace the requests
 * (requests.ts), what the tools do (back-end.ts) and what counts as right (work.ts) by your own.
 */
import { box, defineToolScenario, dict, list, taskRng, text, tool } from '@agentgym/scenario'
import { backEnd } from './back-end.ts'
import { SLOTS } from './records.ts'
import { namedNumbers, numberColumns } from './requests.ts'
import { parameters, readOnly } from './tools.ts'
import { judge, nextCall, openWork, shownItems, type Work } from './work.ts'

const TRAIN_REQUESTS = 10_000
const HELD_OUT_REQUESTS = 1_000_000_000

export default defineToolScenario({
  observation: dict({
    request: text({ maxTokens: 32, vocabulary: 1024 }),
    /** For each tool that changes nothing, whether it has been called. */
    called: box({ shape: [1], low: 0, high: 1 }),
    orders: list({ slots: SLOTS, features: 1 }),
    /** Numbers that the request names, from 0 to 1 within their ranges; -1 where it names none. */
    numbers: box({ shape: [numberColumns.length], low: -1, high: 1 }),
  }),
  maxSteps: 4,
  tasks: { train: TRAIN_REQUESTS, eval: HELD_OUT_REQUESTS },
  rewards: { right: 0.1, wrong: -0.2, tokenSaving: 0.1 },
  // REPLACE: what a request costs today, the base of cost_reduction and time_savings.
  baselines: { tokens: 2000, seconds: 20 },

  start({ task }): Work {
    return openWork(taskRng(task, TRAIN_REQUESTS))
  },

  // REPLACE: the cost of a call in tokens and seconds, as measured.
  tools: {
    search_orders: tool({
      description: "Search the customer's orders",
      cost: { tokens: 100, seconds: 1 },
      run: (work: Work) => judge(work, 'search_orders', {}, backEnd.search_orders(work.records)),
    }),
    refund_order: tool({
      description: 'Refund an order. Cannot be undone.',
      parameters: parameters.refund_order,
      cost: { tokens: 200, seconds: 2 },
      run: (work: Work, args) => judge(work, 'refund_order', args, backEnd.refund_order(work.records, args)),
    }),
    escalate: tool({
      description: 'Hand the conversation to a person',
      parameters: parameters.escalate,
      cost: { tokens: 200, seconds: 2 },
      run: (work: Work, args) => judge(work, 'escalate', args, backEnd.escalate(work.records, args)),
    }),
  },

  observe(work) {
    return {
      request: work.request.text,
      called: readOnly.map((name) => (work.called.includes(name) ? 1 : 0)),
      orders: shownItems(work, 'orders'),
      numbers: namedNumbers(work.request),
    }
  },

  // The reward of the whole episode. Positive means solved.
  outcome: (work) => (work.solved ? 1 : -1),

  // A scripted player that knows the request: it shows that the scenario can be solved. Agents never see it.
  oracle: nextCall,
})
