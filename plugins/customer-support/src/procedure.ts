import { hasErrors, isRefundable } from './back-end.ts'
import type { Ticket } from './tickets/write-ticket.ts'
import type { ToolName } from './tools.ts'

/**
 * How the desk handles a ticket: the right calls, in order. Where it branches, the branch depends on what the tool
 * before has found, which the agent sees only after that call.
 */
export function procedureFor({ kind, customer }: Ticket): readonly ToolName[] {
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
