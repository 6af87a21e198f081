/**
 * Customer support: read a ticket, find out what the matter is, and put it right with eleven tools, in the order that
 * the desk wants, with few tokens and little time. The kind of a ticket is nowhere but in its words; how to handle it
 * depends also on what the tools find. Evaluation draws from a thousand million tickets, written in sentences that no training
 * ticket contains.
 */
import { answer, box, defineToolScenario, dict, type Tool, text } from '@agentgym/scenario'
import { hasErrors, isRefundable } from './back-end.ts'
import { rulesFor } from './rules.ts'
import { isResolved, openCase, type SupportCase, type ToolName, tools } from './support-case.ts'
import { type Ticket, writeTicket } from './tickets/write-ticket.ts'

const MAX_CALLS = 12
const TRAIN_TICKETS = 10_000
const HELD_OUT_TICKETS = 1_000_000_000

/** Without parameters: a tool takes its arguments from the case. */
type JudgedTool = Tool<SupportCase, Record<never, never>>

const toolNames = Object.keys(tools) as ToolName[]

export default defineToolScenario({
  observation: dict({
    ticket: text({ maxTokens: 48, vocabulary: 4096 }),
    /** Answers of the tools: 1 yes, -1 no, 0 not asked yet. */
    found: box({ shape: [5], low: -1, high: 1 }),
    /** What has been done: 1 yes, 0 no. */
    done: box({ shape: [6], low: 0, high: 1 }),
    /** Calls made, over the most that are allowed. */
    calls: box({ shape: [1], low: 0, high: 1 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_TICKETS, eval: HELD_OUT_TICKETS },
  rewards: { right: 10, wrong: -20, tokenSaving: 5, timeSaving: 3 },
  /** A ticket that a person handles. */
  baselines: { tokens: 500, seconds: 240 },

  start({ task }): SupportCase {
    return openCase(ticketOf(task.split, task.index))
  },

  tools: Object.fromEntries(toolNames.map((name) => [name, judged(name)])) as Record<ToolName, JudgedTool>,

  observe(supportCase, { step }) {
    const { ticket, customer, payment, logs, article } = supportCase
    return {
      ticket: ticket.text,
      found: [
        customer ? 1 : 0,
        answer(payment && isRefundable(payment)),
        answer(logs && hasErrors(logs, 'api')),
        answer(logs && hasErrors(logs, 'import')),
        article ? 1 : 0,
      ],
      done: [
        supportCase.linkSent,
        supportCase.refundPaid,
        supportCase.keyCreated,
        supportCase.escalated,
        supportCase.emailSent,
        supportCase.noteWritten,
      ].map(Number),
      calls: [step / MAX_CALLS],
    }
  },

  available(supportCase) {
    return toolNames.filter((name) => tools[name].available(supportCase))
  },

  outcome(supportCase) {
    return isResolved(supportCase) ? 10 : -5
  },

  rules: (observation, { available }) => ({ tool: rulesFor(observation, available) }),

  /** Knows the procedure. */
  oracle({ procedure, rightCalls }) {
    return { tool: procedure[rightCalls] }
  },
})

/** A tool whose calls are held against the procedure. */
function judged(name: ToolName): JudgedTool {
  const { description, tokens, seconds, run } = tools[name]
  return {
    description,
    cost: { tokens, seconds },
    run(supportCase) {
      run(supportCase)
      const right = supportCase.procedure[supportCase.rightCalls] === name
      if (right) supportCase.rightCalls += 1
      else if (name === 'refund') supportCase.moneyLost = true
      return { right, done: supportCase.status !== 'open' }
    },
  }
}

/** Training meets its tickets again and again, so they are written once; a held-out ticket is hardly met twice. */
const written: Ticket[] = []

function ticketOf(split: 'train' | 'eval', index: number): Ticket {
  if (split === 'eval') return writeTicket(split, index)
  written[index] ??= writeTicket(split, index)
  return written[index]
}
