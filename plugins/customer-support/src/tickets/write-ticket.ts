import { createRng, type Rng } from '@agentgym/scenario'
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
  const text = fillSlots(sentences.join(' '), phrases.slots, customer, rng)
  return { kind, text: scribble(text, rng), customer }
}

function fillSlots(text: string, slots: Phrases['slots'], customer: Customer, rng: Rng): string {
  const { lastPayment } = customer
  const facts: Record<string, string> = {
    name: customer.name,
    company: customer.company,
    agent: rng.pick(agentNames),
    number: String(customer.seats),
    date: lastPayment.date,
    invoice: lastPayment.invoice,
    amount: `$${lastPayment.amount}`,
  }
  const fill = (sentence: string): string =>
    sentence.replace(/\{(\w+)\}/g, (_, slot: string) => (slot in slots ? fill(rng.pick(slots[slot])) : facts[slot]))
  return fill(text)
}

/** People type in haste: some lower-case everything, drop punctuation or swap two letters of a word. */
function scribble(text: string, rng: Rng): string {
  let typed = text
  if (rng() < 0.2) typed = typed.toLowerCase()
  if (rng() < 0.2) typed = typed.replace(/[.,!?;:]/g, '')
  if (rng() < 0.3) {
    const words = typed.split(' ')
    const long = words.flatMap((word, position) => (/^[a-z]{5,}$/i.test(word) ? [position] : []))
    if (long.length > 0) {
      const position = rng.pick(long)
      const word = words[position]
      const at = 1 + rng.int(word.length - 2)
      words[position] = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2)
    }
    typed = words.join(' ')
  }
  return typed
}
