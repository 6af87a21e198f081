/** What a support team would write without training: keywords for the kind of a ticket, and the desk’s procedure for each kind. */
import type { ToolName } from './support-case.ts'

type Seen = { ticket: string; found: ArrayLike<number>; done: ArrayLike<number> }

const keywords = {
  password_reset: /password|credentials|locked out|log ?in|sign in|reset (link|mail)|recovery link|username/gi,
  refund:
    /refund|money back|reimburse|charged|return the money|reverse the payment|cancelled|by (accident|mistake)|my card/gi,
  api_integration: /\bapi\b|sdk|webhook|endpoint|integration|token|client secret|developer|curl|json|header|40[13]/gi,
  data_migration: /migrat|import|csv|spreadsheet|salesforce|legacy|columns|rows|records|mapping|\bmove\b|transfer/gi,
  billing_inquiry: /invoice|\bbill|statement|\bfee\b|line item|tax|billed|pro rata|seats|pricing/gi,
} as const
export type Kind = keyof typeof keywords

/** The kind with most matches; the first of those that have as many. */
function kindOf(ticket: string, words: Record<Kind, RegExp>): Kind {
  let best: Kind = 'billing_inquiry'
  let most = 0
  for (const kind of Object.keys(keywords) as Kind[]) {
    const matches = ticket.match(words[kind])?.length ?? 0
    if (matches > most) [best, most] = [kind, matches]
  }
  return best
}

/** The next call, or the first one that is available where it is not. `words` tell the kind of a ticket, regular expressions with `g`. */
export function rulesFor(seen: Seen, available: readonly ToolName[], words: Record<Kind, RegExp> = keywords): ToolName {
  const next = nextCall(kindOf(seen.ticket, words), seen)
  return available.includes(next) ? next : available[0]
}

function nextCall(kind: Kind, { found, done }: Seen): ToolName {
  const [customer, refundable, apiErrors, importErrors, article] = Array.from(found)
  const [linkSent, refundPaid, keyCreated, escalated, emailSent, noteWritten] = Array.from(done)
  if (kind === 'data_migration' && !article) return 'search_kb'
  if (!customer) return 'lookup_user'
  if (kind === 'password_reset') return linkSent ? 'close_ticket' : 'send_reset_link'
  if (kind === 'api_integration' || kind === 'data_migration') {
    if (apiErrors === 0) return 'check_logs'
  } else if (refundable === 0) return 'check_payment'
  if (kind === 'api_integration') {
    if (apiErrors > 0 && !keyCreated) return 'create_api_key'
    if (apiErrors < 0 && !article) return 'search_kb'
  }
  const specialists = (kind === 'data_migration' && importErrors > 0) || (kind === 'refund' && refundable < 0)
  if (specialists && !escalated) return 'escalate'
  if (kind === 'refund' && refundable > 0 && !refundPaid) return 'refund'
  if (kind === 'data_migration' && !specialists && !noteWritten) return 'update_ticket'
  if (!emailSent) return 'send_email'
  return specialists ? 'update_ticket' : 'close_ticket'
}
