import type { Article, Customer, LogLine, Payment } from './back-end.ts'
import type { Ticket } from './tickets/write-ticket.ts'

/** One ticket being worked on: what the tools have found out so far, and what they have done. */
export type SupportCase = {
  ticket: Ticket
  customer?: Customer
  payment?: Payment
  logs?: readonly LogLine[]
  article?: Article | 'none found'
  linkSent: boolean
  refundPaid: boolean
  keyCreated: boolean
  escalated: boolean
  emailSent: boolean
  noteWritten: boolean
  /** `handed_over`: with the specialists it was escalated to. Only an open case is the agent's. */
  status: 'open' | 'handed_over' | 'closed'
}

export function openCase(ticket: Ticket): SupportCase {
  return {
    ticket,
    linkSent: false,
    refundPaid: false,
    keyCreated: false,
    escalated: false,
    emailSent: false,
    noteWritten: false,
    status: 'open',
  }
}
