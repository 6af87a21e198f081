import { bestArticle, hasErrors, isRefundable } from './back-end.ts'
import type { SupportCase } from './support-case.ts'

/**
 * A tool of the support desk. Arguments are filled in from the case: the sender of the ticket, the customer's last
 * payment, and so on. `tokens` and `seconds` are what one call costs, the model's thinking included.
 */
export type Tool = {
  description: string
  tokens: number
  seconds: number
  /** Whether the case holds the arguments that the tool needs. Without it always. */
  available?(supportCase: SupportCase): boolean
  /** Runs the tool on the simulated back end and returns its answer. */
  run(supportCase: SupportCase): string
}

const customerKnown = ({ customer }: SupportCase) => customer !== undefined
const paymentKnown = ({ payment }: SupportCase) => payment !== undefined

/** In the order of the actions. */
export const tools = {
  search_kb: {
    description: 'Search the knowledge base for the article that fits the ticket.',
    tokens: 90,
    seconds: 1.1,
    run(supportCase) {
      const article = bestArticle(supportCase.ticket.text)
      supportCase.article = article ?? 'none found'
      return article ? `article "${article.title}"` : 'no article found'
    },
  },
  update_ticket: {
    description: 'Write what was found into the ticket; an escalated one goes to the specialists with it.',
    tokens: 45,
    seconds: 0.7,
    run(supportCase) {
      supportCase.noteWritten = true
      if (supportCase.escalated) supportCase.status = 'handed_over'
      return `note saved, ticket ${supportCase.status}`
    },
  },
  lookup_user: {
    description: 'Find the account of the ticket’s sender.',
    tokens: 50,
    seconds: 0.6,
    run(supportCase) {
      const { customer } = supportCase.ticket
      supportCase.customer = customer
      return `${customer.name}, ${customer.company}, plan ${customer.plan}, ${customer.seats} seats`
    },
  },
  send_reset_link: {
    description: 'Mail the customer a link to choose a new password.',
    tokens: 45,
    seconds: 0.7,
    available: customerKnown,
    run(supportCase) {
      supportCase.linkSent = true
      return `reset link sent to ${supportCase.customer?.email}`
    },
  },
  check_payment: {
    description: 'Read the customer’s last payment and whether it may be refunded.',
    tokens: 60,
    seconds: 0.8,
    available: customerKnown,
    run(supportCase) {
      const { lastPayment } = supportCase.ticket.customer
      supportCase.payment = lastPayment
      return `${lastPayment.invoice}, $${lastPayment.amount}, ${isRefundable(lastPayment) ? 'refundable' : 'not refundable'}`
    },
  },
  refund: {
    description: 'Pay the last payment back. Cannot be undone.',
    tokens: 70,
    seconds: 1.2,
    available: paymentKnown,
    run(supportCase) {
      supportCase.refundPaid = true
      return `refunded $${supportCase.payment?.amount}`
    },
  },
  create_api_key: {
    description: 'Give the customer a new API key in place of the old one.',
    tokens: 60,
    seconds: 0.9,
    available: customerKnown,
    run(supportCase) {
      supportCase.keyCreated = true
      return `replaced ${supportCase.customer?.apiKey.id}`
    },
  },
  check_logs: {
    description: 'Read the customer’s latest login, API and import logs.',
    tokens: 85,
    seconds: 1.2,
    available: customerKnown,
    run(supportCase) {
      const { logs } = supportCase.ticket.customer
      supportCase.logs = logs
      const services = (['login', 'api', 'import'] as const).filter((service) => hasErrors(logs, service))
      return services.length === 0 ? 'no errors' : `errors in ${services.join(', ')}`
    },
  },
  escalate: {
    description: 'Ask the specialists to take the case; they get it with the next note.',
    tokens: 60,
    seconds: 0.9,
    run(supportCase) {
      supportCase.escalated = true
      return 'the specialists are waiting for a note'
    },
  },
  send_email: {
    description: 'Write the customer what was found and done.',
    tokens: 95,
    seconds: 1.1,
    available: customerKnown,
    run(supportCase) {
      supportCase.emailSent = true
      return `email sent to ${supportCase.customer?.email}`
    },
  },
  close_ticket: {
    description: 'Close the ticket.',
    tokens: 40,
    seconds: 0.6,
    run(supportCase) {
      supportCase.status = 'closed'
      return 'ticket closed'
    },
  },
} as const satisfies Record<string, Tool>

export type ToolName = keyof typeof tools
