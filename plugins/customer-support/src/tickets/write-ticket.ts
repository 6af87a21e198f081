import { createRng, fillIn, type Rng, typeInHaste, type Wordings } from '@agentgym/scenario'
import { type Customer, customers } from '../back-end.ts'
import { apiIntegration } from './api-integration.ts'
import { billingInquiry } from './billing-inquiry.ts'
import { dataMigration } from './data-migration.ts'
import { passwordReset } from './password-reset.ts'
import type { Phrases } from './phrases.ts'
import { refundRequest } from './refund-request.ts'
import { smallTalk } from './small-talk.ts'

/** From easy to hard. */
export const kinds = ['password_reset', 'billing_inquiry', 'api_integration', 'refund', 'data_migration'] as const
type Kind = (typeof kinds)[number]

/** `kind` is the truth that the agent has to read out of `text`. */
export type Ticket = { kind: Kind; text: string; customer: Customer }

const phrasesOf: Record<Kind, Phrases> = {
  password_reset: passwordReset,
  billing_inquiry: billingInquiry,
  api_integration: apiIntegration,
  refund: refundRequest,
  data_migration: dataMigration,
}

const agentNames = ['Sam', 'Robin', 'Alex', 'Kim']

/**
 * Ticket number `index` of a split: always the same one. Kinds take turns, so that any five tickets in a row have one of
 * each. `eval` tickets use the held-out sentences only.
 */
export function writeTicket(split: 'train' | 'eval', index: number): Ticket {
  const rng = createRng(split === 'train' ? index : 0x4000_0000 + index)
  const kind = kinds[index % kinds.length]
  // Any customer may have any problem: what the tables say about one tells nothing about the kind of ticket.
  const customer = rng.pick(customers)
  const part = split === 'train' ? 'train' : 'held'
  const phrases = phrasesOf[kind]
  const { request, detail } = phrases[part]
  const { greeting, aside, closing } = smallTalk[part]

  const body = [rng.pick(request), rng() < 0.8 ? rng.pick(detail) : '', rng.pick<string>(aside)]
  if (rng() < 0.3) body.reverse()
  const sentences = [rng.pick<string>(greeting), ...body, rng.pick<string>(closing)].filter(
    (sentence) => sentence !== '',
  )
  const text = fillIn(sentences.join(' '), { ...factsOf(customer, rng), ...phrases.slots }, rng)
  return { kind, text: typeInHaste(text, rng), customer }
}

/** What `{name}`, `{date}` and so on say of a customer. */
function factsOf({ name, company, seats, lastPayment }: Customer, rng: Rng): Wordings {
  return {
    name,
    company,
    agent: rng.pick(agentNames),
    number: String(seats),
    date: lastPayment.date,
    invoice: lastPayment.invoice,
    amount: `$${lastPayment.amount}`,
  }
}
