import { stripVTControlCharacters } from 'node:util'
import type { Earnings, EarningsEntry, Offer, Order, Price, PricePage } from '@agentgym/contract'
import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { offerLines } from '../commands/buy.ts'
import { earningsLines, entryLines } from '../commands/earnings.ts'
import { orderLines, orderReport } from '../commands/orders.ts'
import { priceLines } from '../commands/price.ts'
import { describeTerminal, type Terminal } from '../terminal/terminal.ts'
import { percentText, priceText } from './price-text.ts'

const escapeCode = '\u001b'
const hostile = `x\n${escapeCode}[2J${escapeCode}[31m\u202e${'迷'.repeat(120)}`
const nowMs = Date.parse('2026-12-05T05:00:00Z')

function terminalOf(columns: number, { unicode = true, color = false } = {}): Terminal {
  const environment = { TERM: 'xterm', LC_ALL: unicode ? 'C.UTF-8' : 'C', ...(color ? {} : { NO_COLOR: '1' }) }
  return describeTerminal({ isTTY: true, columns, rows: 24 }, environment, { color: true })
}

const price: Price = {
  id: '1b671a64-40d5-491e-99b0-da01ff1f3341',
  kind: 'one_time',
  amount_minor: 1250,
  currency: 'USD',
  effective_at: '2026-11-28T05:00:00.000Z',
  created_at: '2026-11-28T05:00:00.000Z',
}
const raised: Price = { ...price, amount_minor: 2_000_000_00, effective_at: '2026-12-12T05:00:00.000Z' }

function offer(parts: Partial<Offer> = {}): Offer {
  return {
    package: '@ann/puck-ppo',
    kind: 'agent',
    title: 'Puck, pushed by PPO',
    seller: 'ann',
    version: '1.2.0',
    covers: '1.x',
    price,
    upcoming: null,
    total_minor: 1250,
    license: 'MIT',
    terms: '',
    trial_calls: 0,
    calls_price_minor: 0,
    entitled: false,
    balance_minor: 5000,
    test_money: false,
    verification: { state: 'verified', return_mean: 475.25, command: 'agentgym agent verify @ann/puck-ppo@1.2.0' },
    page: 'https://gym.example/packages/@ann/puck-ppo',
    ...parts,
  }
}

const worstOffer = offer({
  package: `@evil/${hostile}`,
  title: hostile,
  seller: hostile,
  license: hostile,
  terms: hostile.repeat(40),
  upcoming: raised,
  total_minor: 1_000_000_000_000_000,
  trial_calls: 100_000,
  calls_price_minor: 1_000_000_000_000,
  balance_minor: 1_000_000_000_000_000,
  verification: { state: hostile, return_mean: -1e300, command: hostile },
  page: `https://gym.example/${hostile}`,
})

function order(parts: Partial<Order> = {}): Order {
  return {
    id: '4f0c1d2e-40d5-491e-99b0-da01ff1f3341',
    state: 'paid',
    package: '@ann/puck-ppo',
    kind: 'agent',
    version: '1.2.0',
    covers: '1.x',
    price_kind: 'one_time',
    buyer: 'acme',
    placed_by: 'bob',
    seller: 'ann',
    total_minor: 1250,
    refunded_minor: 0,
    currency: 'USD',
    pay_with: 'balance',
    checkout_url: null,
    run: null,
    refunds: [],
    refundable: { by_buyer: true, why: 'until 2026-12-12, while it is not installed' },
    created_at: '2026-11-28T05:00:00.000Z',
    paid_at: '2026-11-28T05:00:01.000Z',
    ended_at: null,
    ...parts,
  }
}

const worstOrder = order({
  package: `@evil/${hostile}`,
  buyer: hostile,
  placed_by: hostile,
  seller: hostile,
  total_minor: 1_000_000_000_000_000,
  refunded_minor: 500,
  refunds: [{ id: price.id, amount_minor: 500, reason: hostile, by: hostile, created_at: price.created_at }],
  refundable: { by_buyer: false, why: hostile },
})

const pricePage: PricePage = {
  package: '@ann/puck-ppo',
  current: price,
  upcoming: raised,
  upcoming_terms: {
    royalty_basis_points: 1500,
    calls_price_minor: 30,
    trial_calls: 10,
    effective_at: raised.effective_at,
  },
  history: [price, { ...price, kind: 'free', amount_minor: 0, effective_at: '2026-11-01T05:00:00.000Z' }],
  royalty_basis_points: 1000,
  trial_calls: 100,
  calls_price_minor: 20,
  terms: hostile,
}

const earnings: Earnings = {
  account: hostile,
  currency: 'USD',
  sales_minor: 1_000_000_000_000_000,
  fees_minor: 125,
  royalties_earned_minor: 30,
  royalties_paid_minor: 112,
  refunds_minor: 1,
  paid_out_minor: 100,
  balance_minor: 942,
  cleared_minor: 40,
  held_minor: 902,
  debt_minor: 5,
}
const entry: EarningsEntry = {
  id: price.id,
  at: price.created_at,
  kind: 'sale',
  package: `@evil/${hostile}`,
  order: price.id,
  gross_minor: 1250,
  fee_minor: -125,
  royalty_minor: -112,
  net_minor: 1013,
  currency: 'USD',
}

describe.each([20, 40, 80, 120])('on %i columns', (columns) => {
  it.each([true, false])('no line is wider or controls the terminal (UTF-8 %s)', (unicode) => {
    const terminal = terminalOf(columns, { unicode })
    const orders = [order(), worstOrder, order({ state: 'charged_back' })]
    const lines = [
      ...offerLines(worstOffer, terminal),
      ...offerLines(offer(), terminal),
      ...orderLines(orders, { sales: false }, terminal, nowMs),
      ...orderLines(orders, { sales: true }, terminal, nowMs),
      ...orderReport(worstOrder, terminal),
      ...priceLines(pricePage, terminal),
      ...earningsLines(earnings, terminal),
      ...entryLines([entry], terminal),
    ]
    for (const line of lines) {
      expect(stringWidth(line), line).toBeLessThan(columns)
      expect(line).not.toMatch(/\p{Cc}|\u202e/u)
    }
  })

  it('color does not change the text', () => {
    const plain = offerLines(worstOffer, terminalOf(columns))
    const coloured = offerLines(worstOffer, terminalOf(columns, { color: true }))
    expect(coloured.map(stripVTControlCharacters)).toEqual(plain)
  })
})

it('an offer shows price, content and remaining balance', () => {
  const text = offerLines(offer({ upcoming: raised, terms: 'One product.', calls_price_minor: 20 }), terminalOf(100))
  expect(text.join('\n')).toBe(`@ann/puck-ppo@1.2.0: Puck, pushed by PPO
  total       $12.50 for all 1.x versions of this agent
  later       $2,000,000.00 from 2026-12-12
  seller      ann
  license     MIT
  terms       One product.
  calls       $0.20 for 1,000 hosted calls
  evaluation  ✓ verified, return 475.3
  verify it   agentgym agent verify @ann/puck-ppo@1.2.0
  page        https://gym.example/packages/@ann/puck-ppo
  balance     $50.00 → $37.50 after purchase`)
  expect(offerLines(offer({ balance_minor: 100 }), terminalOf(100)).at(-1)).toContain('$1.00 → insufficient')
  const unverified = offer({ verification: { state: 'mismatch', return_mean: null, command: 'x' } })
  expect(offerLines(unverified, terminalOf(100)).join('\n')).toContain('! not verified (mismatch)')
})

it('prices and parts in words', () => {
  expect(priceText({ ...price, kind: 'per_run', amount_minor: 50 })).toBe('$0.50 a run')
  expect(priceText({ ...price, kind: 'free', amount_minor: 0 })).toBe('free')
  expect([percentText(1000), percentText(250), percentText(7)]).toEqual(['10%', '2.5%', '0.07%'])
})
