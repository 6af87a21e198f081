/**
 * An inbox: read a message, look the sender up and hand it to the right desk. Replace the messages, the tools and what
 * counts as right by your own; `agentgym scenario check` says what is wrong with the result.
 */
import { box, choice, defineToolScenario, dict, text, tool } from '@agentgym/scenario'

const desks = ['billing', 'engineering'] as const

const greetings = ['Hi', 'Good morning', 'Hello there team']
/** Messages and the team that handles each; null if none does. */
const messages: { desk: (typeof desks)[number] | null; openings: string[] }[] = [
  {
    desk: 'billing',
    openings: ['The invoice is wrong', 'I was charged twice', 'Please send a receipt for the payment'],
  },
  { desk: 'engineering', openings: ['The app crashes', 'An error appears at login', 'The export never finishes'] },
  { desk: null, openings: ['You have won a prize', 'Cheap watches for sale', 'Claim your free holiday'] },
]
const endings = ['since Monday', 'again', 'as of today', 'and my colleague says the same', 'for the third time']

type State = {
  message: string
  desk: (typeof desks)[number] | null
  customer: boolean
  sender: 'unknown' | 'customer' | 'stranger'
  solved: boolean
}

export default defineToolScenario({
  observation: dict({
    message: text({ maxTokens: 16, vocabulary: 512 }),
    /** 1 a customer, -1 a stranger, 0 not looked up yet. */
    sender: box({ shape: [1], low: -1, high: 1 }),
  }),
  maxSteps: 4,
  rewards: { right: 1, wrong: -2, tokenSaving: 1 },
  // What a message costs without the agent: the base of cost_reduction and time_savings.
  baselines: { tokens: 400, seconds: 60 },

  start({ rng }): State {
    const { desk, openings } = rng.pick(messages)
    const message = `${rng.pick(greetings)} ${rng.pick(openings)} ${rng.pick(endings)}`
    return { message, desk, customer: rng() < 0.7, sender: 'unknown', solved: false }
  },

  tools: {
    look_up_sender: tool({
      description: 'Look up whether the sender is a customer',
      cost: { tokens: 40, seconds: 2 },
      run(state: State) {
        // Looking twice costs and tells nothing new.
        const right = state.sender === 'unknown'
        state.sender = state.customer ? 'customer' : 'stranger'
        return { right }
      },
    }),
    forward: tool({
      description: 'Hand the message to a desk',
      parameters: { desk: choice(desks) },
      cost: { tokens: 80, seconds: 3 },
      run(state: State, args) {
        state.solved = state.sender === 'customer' && args.desk === state.desk
        return { right: state.solved, done: true }
      },
    }),
    archive: tool({
      description: 'Put the message away unanswered',
      cost: { tokens: 20, seconds: 1 },
      run(state: State) {
        state.solved = state.sender === 'stranger' || (state.sender === 'customer' && state.desk === null)
        return { right: state.solved, done: true }
      },
    }),
  },

  observe(state) {
    return { message: state.message, sender: [{ unknown: 0, customer: 1, stranger: -1 }[state.sender]] }
  },

  // The reward of the whole episode. Positive means solved.
  outcome(state) {
    return state.solved ? 5 : -5
  },

  // A scripted player that sees the whole state: it shows that the scenario can be solved. Agents never see it.
  oracle({ sender, desk }) {
    if (sender === 'unknown') return { tool: 'look_up_sender' }
    return desk === null || sender === 'stranger' ? { tool: 'archive' } : { tool: 'forward', arguments: { desk } }
  },
})
