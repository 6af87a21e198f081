/**
 * A ticket is resolved by one of ten tools, some of which need the order looked up before. What it asks for is nowhere but in
 * its words, and the words of evaluation are others than those of training.
 */
import { box, createRng, defineToolScenario, dict, type Tool, text } from '@agentgym/scenario'
import { variant } from './variant.ts'
import { type Intent, intents, type Ticket, wordings, writeTicket } from './wordings.ts'

type State = { ticket: Ticket; lookedUp: boolean; resolved: boolean }
type PlainTool = Tool<State, Record<never, never>>

const lookUp: PlainTool = {
  description: 'Looks up the order.',
  run(state) {
    const right = wordings[state.ticket.intent].needsOrder && !state.lookedUp
    state.lookedUp = true
    return { right }
  },
}

function resolve(intent: Intent): PlainTool {
  return {
    description: wordings[intent].tool,
    run(state) {
      const { needsOrder } = wordings[state.ticket.intent]
      state.resolved = state.ticket.intent === intent && state.lookedUp === needsOrder
      return { right: state.resolved, done: true }
    },
  }
}

export default defineToolScenario({
  observation: dict({
    ticket: variant.encoder === null ? text({ maxTokens: 48 }) : text({ encoder: variant.encoder, maxTokens: 64 }),
    lookedUp: box({ shape: [1], low: 0, high: 1 }),
  }),
  maxSteps: 3,
  tasks: { train: variant.trainingTickets, eval: 1_000_000 },
  rewards: { right: 0.5, wrong: -0.5 },
  start({ task: { split, index } }): State {
    const rng = createRng(split === 'train' ? index : 2 ** 31 + index)
    return { ticket: writeTicket(split, rng), lookedUp: false, resolved: false }
  },
  tools: {
    look_up: lookUp,
    ...(Object.fromEntries(intents.map((intent) => [intent, resolve(intent)])) as Record<Intent, PlainTool>),
  },
  observe: ({ ticket, lookedUp }) => ({ ticket: ticket.text, lookedUp: [lookedUp ? 1 : 0] }),
  outcome: ({ resolved }) => (resolved ? 1 : 0),
})
