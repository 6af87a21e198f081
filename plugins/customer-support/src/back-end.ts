/**
 * The company's systems, simulated: small tables made once from a fixed seed, and a desk for each ticket where the
 * agent's changes are kept, so that no ticket sees another's.
 */
import { createRng, type Rng } from '@agentgym/scenario'

export type Payment = { invoice: string; amount: number; date: string; ageDays: number; refunded: boolean }
export type LogLine = { service: 'login' | 'api' | 'import'; level: 'info' | 'error'; message: string }
export type Customer = {
  name: string
  email: string
  company: string
  plan: 'Starter' | 'Team' | 'Business'
  seats: number
  lastPayment: Payment
  apiKey: { id: string; state: 'active' | 'expired' }
  logs: LogLine[]
}
export type Article = { title: string; words: readonly string[] }

/** Payments are refunded within this many days, once. */
const REFUND_WINDOW_DAYS = 30
const CUSTOMERS = 64

const givenNames = [
  'Ada',
  'Bruno',
  'Chloe',
  'Dmitri',
  'Elif',
  'Farid',
  'Greta',
  'Hugo',
  'Ines',
  'Jonas',
  'Kavya',
  'Luca',
]
const familyNames = [
  'Almeida',
  'Brandt',
  'Chen',
  'Dubois',
  'Eriksen',
  'Fischer',
  'Garcia',
  'Haddad',
  'Ito',
  'Jansen',
  'Kowalski',
]
const companies = ['Northwind', 'Bluebird', 'Oakline', 'Fernhill', 'Brightside', 'Larkspur', 'Stonebridge', 'Tidewater']
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
]
const pricePerSeat = { Starter: 9, Team: 15, Business: 29 } as const

export const articles: readonly Article[] = [
  { title: 'Reset a password', words: ['password', 'login', 'reset', 'link', 'username'] },
  { title: 'Read your invoice', words: ['invoice', 'bill', 'tax', 'fee', 'statement', 'billed'] },
  {
    title: 'Errors of the API',
    words: ['api', 'endpoint', 'key', 'token', 'webhook', 'sdk', '401', '403', '500', 'request'],
  },
  { title: 'Refunds', words: ['refund', 'money', 'charged', 'card', 'cancelled'] },
  {
    title: 'Move your data to us',
    words: ['migrate', 'migration', 'import', 'importer', 'csv', 'rows', 'records', 'data'],
  },
]

function makeCustomer(rng: Rng): Customer {
  const given = rng.pick(givenNames)
  const family = rng.pick(familyNames)
  const company = rng.pick(companies)
  const plan = rng.pick(['Starter', 'Team', 'Business'] as const)
  const seats = 1 + rng.int(40)
  const keyState = rng() < 0.5 ? 'expired' : 'active'
  const importFailed = rng() < 0.5
  const lastPayment: Payment = {
    invoice: `INV-${10_000 + rng.int(90_000)}`,
    amount: seats * pricePerSeat[plan],
    date: `${1 + rng.int(28)} ${rng.pick(months)}`,
    ageDays: 1 + rng.int(50),
    refunded: rng() < 0.1,
  }
  const logs: LogLine[] = [
    { service: 'login', level: 'info', message: `${given} signed in from a known device` },
    keyState === 'expired'
      ? { service: 'api', level: 'error', message: '401 key expired' }
      : { service: 'api', level: 'info', message: '200 GET /v2/orders' },
    importFailed
      ? { service: 'import', level: 'error', message: 'row 512: column "created" does not match the mapping' }
      : { service: 'import', level: 'info', message: 'dry run finished without errors' },
  ]
  return {
    name: `${given} ${family}`,
    email: `${given}.${family}@${company}.example`.toLowerCase(),
    company,
    plan,
    seats,
    lastPayment,
    apiKey: { id: `key_${rng.int(1_000_000)}`, state: keyState },
    logs: rng.shuffle(logs),
  }
}

const tableRng = createRng(2024)
export const customers: readonly Customer[] = Array.from({ length: CUSTOMERS }, () => makeCustomer(tableRng))

export function isRefundable(payment: Payment): boolean {
  return payment.ageDays <= REFUND_WINDOW_DAYS && !payment.refunded
}

export function hasErrors(logs: readonly LogLine[], service: LogLine['service']): boolean {
  return logs.some((line) => line.service === service && line.level === 'error')
}

/** The article that shares most words with the text, or undefined when none shares any. */
export function bestArticle(text: string): Article | undefined {
  const words = new Set(text.toLowerCase().match(/[a-z0-9]+/g))
  let best: Article | undefined
  let bestShared = 0
  for (const article of articles) {
    const shared = article.words.filter((word) => words.has(word)).length
    if (shared > bestShared) {
      best = article
      bestShared = shared
    }
  }
  return best
}
