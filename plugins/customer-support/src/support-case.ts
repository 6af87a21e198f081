import type { Article, Customer, LogLine, Payment } from './back-end.ts'
import { procedureFor } from './procedure.ts'
import type { Ticket } from './tickets/write-ticket.ts'
import type { ToolName } from './tools.ts'

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
