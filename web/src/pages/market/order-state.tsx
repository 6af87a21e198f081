import type { Order } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'

const tones = {
  awaiting_payment: 'warning',
  paid: 'good',
  cancelled: 'plain',
  expired: 'plain',
  refunded: 'plain',
  charged_back: 'bad',
} as const

const words = {
  awaiting_payment: 'awaits payment',
  paid: 'paid',
  cancelled: 'cancelled',
  expired: 'expired',
  refunded: 'refunded',
  charged_back: 'charged back',
}

export function OrderState({ order: { state, refunded_minor } }: { order: Order }) {
  const part = state === 'paid' && refunded_minor > 0 ? ', part refunded' : ''
  return <Badge tone={tones[state]}>{words[state] + part}</Badge>
}
