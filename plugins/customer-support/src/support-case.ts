import {
  type Article,
  bestArticle,
  type Customer,
  hasErrors,
  isRefundable,
  type LogLine,
  type Payment,
} from './back-end.ts'
import type { Ticket } from './tickets/write-ticket.ts'

/** One ticket being worked on. */
export type SupportCase = {
  ticket: Ticket
  /** The right calls in order, and how many of them have been made: what the desk knows and the agent does not. */
  procedure: readonly ToolName[]
  rightCalls: number
  /** Whether money was paid back that was not due. */
  moneyLost: boolean

  /** What the tools have found out; absent before they were asked. */
  customer?: Customer
  payment?: Payment
  logs?: readonly LogLine[]
  article?: Article | 'none found'

  /** What they have done. */
  linkSent: boolean
  refundPaid: boolean
  keyCreated: boolean
  escalated: boolean
  emailSent: boolean
  noteWritten: boolean
  /** Only an open case is the agent's; `handed_over` is with the specialists. */
  status: 'open' | 'handed_over' | 'closed'
}

export function openCase(ticket: Ticket): SupportCase {
  return {
    ticket,
    procedure: procedureFor(ticket),
    rightCalls: 0,
    moneyLost: false,
    linkSent: false,
    refundPaid: false,
    keyCreated: false,
    escalated: false,
    emailSent: false,
    noteWritten: false,
    status: 'open',
  }
}

/** Whether the case has left the agent's hands as the desk wants it. */
export function isResolved({ status, rightCalls, procedure, moneyLost }: SupportCase): boolean {
  return status !== 'open' && rightCalls === procedure.length && !moneyLost
}

/**
 * How the desk handles a ticket: the right calls, in order. Where it branches, the branch depends on what the tool
 * before has found, which the agent sees only after that call.
 */
function procedureFor({ kind, customer }: Ticket): readonly ToolName[] {
  switch (kind) {
    case 'password_reset':
      return ['lookup_user', 'send_reset_link', 'close_ticket']
    case 'billing_inquiry':
      return ['lookup_user', 'check_payment', 'send_email', 'close_ticket']
    case 'api_integration':
      return hasErrors(customer.logs, 'api')
        ? ['lookup_user', 'check_logs', 'create_api_key', 'send_email', 'close_ticket']
        : ['lookup_user', 'check_logs', 'search_kb', 'send_email', 'close_ticket']
    case 'refund':
      return isRefundable(customer.lastPayment)
        ? ['lookup_user', 'check_payment', 'refund', 'send_email', 'close_ticket']
        : ['lookup_user', 'check_payment', 'escalate', 'send_email', 'update_ticket']
    case 'data_migration':
      return hasErrors(customer.logs, 'import')
        ? ['search_kb', 'lookup_user', 'check_logs', 'escalate', 'send_email', 'update_ticket']
        : ['search_kb', 'lookup_user', 'check_logs', 'update_ticket', 'send_email', 'close_ticket']
  }
}

/**
 * A tool of the support desk. Arguments are filled in from the case: the sender of the ticket, the customer's last
 * payment, and so on. `tokens` and `seconds` are what one call costs, the model's thinking included.
 */
type SupportTool = {
  description: string
  tokens: number
  seconds: number
  /** Whether the case holds the arguments that the tool needs. */
  available(supportCase: SupportCase): boolean
  /** Runs the tool on the back end; what it found or did is noted in the case. */
  run(supportCase: SupportCase): void
}

const always = () => true
const customerKnown = ({ customer }: SupportCase) => customer !== undefined
/** A case may be closed once the customer has heard of it. */
const customerAnswered = ({ linkSent, emailSent }: SupportCase) => linkSent || emailSent
const paymentKnown = ({ payment }: SupportCase) => payment !== undefined

/** In the order of the actions. */
export const tools = {
  search_kb: {
    description: 'Search the knowledge base for the article that fits the ticket.',
    tokens: 95,
    seconds: 1.2,
    available: always,
    run(supportCase) {
      supportCase.article = bestArticle(supportCase.ticket.text) ?? 'none found'
    },
  },
  update_ticket: {
    description: 'Write what was found into the ticket. An escalated ticket leaves for the specialists with it.',
    tokens: 50,
    seconds: 0.7,
    available: customerKnown,
    run(supportCase) {
      supportCase.noteWritten = true
      if (supportCase.escalated) supportCase.status = 'handed_over'
    },
  },
  lookup_user: {
    description: 'Find the account of the sender.',
    tokens: 55,
    seconds: 0.7,
    available: always,
    run(supportCase) {
      supportCase.customer = supportCase.ticket.customer
    },
  },
  send_reset_link: {
    description: 'Mail the customer a link to choose a new password.',
    tokens: 50,
    seconds: 0.7,
    available: customerKnown,
    run(supportCase) {
      supportCase.linkSent = true
    },
  },
  check_payment: {
    description: 'Read the last payment of the customer and whether it may be refunded.',
    tokens: 65,
    seconds: 0.9,
    available: customerKnown,
    run(supportCase) {
      supportCase.payment = supportCase.ticket.customer.lastPayment
    },
  },
  refund: {
    description: 'Pay the last payment back. Cannot be undone.',
    tokens: 75,
    seconds: 1.2,
    available: paymentKnown,
    run(supportCase) {
      supportCase.refundPaid = true
    },
  },
  create_api_key: {
    description: 'Give the customer a new API key in place of the old one.',
    tokens: 65,
    seconds: 0.9,
    available: customerKnown,
    run(supportCase) {
      supportCase.keyCreated = true
    },
  },
  check_logs: {
    description: 'Read the latest login, API and import logs of the customer.',
    tokens: 90,
    seconds: 1.3,
    available: customerKnown,
    run(supportCase) {
      supportCase.logs = supportCase.ticket.customer.logs
    },
  },
  escalate: {
    description: 'Ask the specialists to take the case; they get it with the next note.',
    tokens: 65,
    seconds: 0.9,
    available: customerKnown,
    run(supportCase) {
      supportCase.escalated = true
    },
  },
  send_email: {
    description: 'Write the customer what was found and done.',
    tokens: 110,
    seconds: 1.3,
    available: customerKnown,
    run(supportCase) {
      supportCase.emailSent = true
    },
  },
  close_ticket: {
    description: 'Close the ticket.',
    tokens: 45,
    seconds: 0.6,
    available: customerAnswered,
    run(supportCase) {
      supportCase.status = 'closed'
    },
  },
} as const satisfies Record<string, SupportTool>

export type ToolName = keyof typeof tools
