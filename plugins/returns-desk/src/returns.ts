/** The shop's orders, and what its customers write about them. */
import { type Rng, withDistinctIds } from '@agentgym/scenario'

export const products = ['lamp', 'kettle', 'chair', 'jacket', 'book', 'phone'] as const
export const reasons = ['broken', 'late', 'unwanted'] as const

export type Product = (typeof products)[number]
export type Reason = (typeof reasons)[number]
export type Order = { id: string; product: Product; price: number; ageDays: number }

/** A wrong variant is replaced; everything else is refunded. */
export type Matter = Reason | 'wrong variant'

export type Return = {
  message: string
  matter: Matter
  /** What the photo shows, as a share of the article; 0 without a photo. */
  damage: number
  /** In the order in which the shop's system lists them. */
  orders: readonly Order[]
  /** Id of the order that the message is about. */
  wanted: string
}

const FEWEST_ORDERS = 3
const WORST_DAMAGE = 100

const sentences: Record<Matter, readonly string[]> = {
  broken: ['my PRODUCT arrived broken', 'there is a crack in the PRODUCT', 'the PRODUCT came damaged, see the photo'],
  late: ['my PRODUCT came a week too late', 'the PRODUCT was delayed again', 'I waited far too long for the PRODUCT'],
  unwanted: [
    'I changed my mind about the PRODUCT',
    'I do not need the PRODUCT any more',
    'please take the PRODUCT back',
  ],
  'wrong variant': [
    'you sent the PRODUCT in the wrong color',
    'the PRODUCT has the wrong size',
    'I ordered another model of the PRODUCT',
  ],
}
const greetings = ['Hello,', 'Good morning,', 'Hi there,', 'Dear team,']
const endings = ['Please help.', 'Thanks in advance.', 'What can you do?', 'Regards']
const matters = Object.keys(sentences) as Matter[]

/** A customer with some orders, each of another product, and a message about one of them. */
export function writeReturn(rng: Rng): Return {
  const count = FEWEST_ORDERS + rng.int(products.length - FEWEST_ORDERS + 1)
  const orders = rng
    .shuffle(products)
    .slice(0, count)
    .map((product) => ({
      id: `${String.fromCharCode(65 + rng.int(26))}-${10_000 + rng.int(90_000)}`,
      product,
      price: 10 + rng.int(190),
      ageDays: 1 + rng.int(30),
    }))
  const { id, product } = rng.pick(orders)
  const matter = rng.pick(matters)
  const sentence = rng.pick(sentences[matter]).replace('PRODUCT', product)
  return {
    message: `${rng.pick(greetings)} ${sentence}. ${rng.pick(endings)}`,
    matter,
    damage: matter === 'broken' ? (10 + rng.int(WORST_DAMAGE - 9)) / 100 : 0,
    orders: withDistinctIds(orders),
    wanted: id,
  }
}

/** What the shop pays back, in percent of the price: what is broken of it, a tenth for a delay, all but a fifth otherwise. */
export function duePercent({ matter, damage }: Return): number {
  if (matter === 'broken') return Math.round(damage * 100)
  return matter === 'late' ? 10 : 80
}
