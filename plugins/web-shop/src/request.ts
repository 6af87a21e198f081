/** What customers ask for, and in which words. */
import { fillIn, type Rng } from '@agentgym/scenario'

export const products = ['shirt', 'sweater', 'jacket', 'coat', 'trousers', 'scarf'] as const
export const materials = ['cotton', 'wool', 'linen', 'leather'] as const
export const details = ['pockets', 'hood', 'lining', 'zipper'] as const
export const colors = ['red', 'blue', 'green', 'black', 'white'] as const
export const sizes = ['S', 'M', 'L', 'XL'] as const
/** Highest prices that customers name, in dollars. */
export const limits = [30, 50, 80, 120] as const

export type Product = (typeof products)[number]
export type Material = (typeof materials)[number]
export type Detail = (typeof details)[number]
export type Color = (typeof colors)[number]
export type Size = (typeof sizes)[number]
export type Limit = (typeof limits)[number]

export type Request = {
  product: Product
  material: Material
  detail: Detail
  color: Color
  size: Size
  limit: Limit
  text: string
}

/** Words for the same thing; customers use all of them. */
const words = {
  product: {
    shirt: ['shirt', 'button-up'],
    sweater: ['sweater', 'pullover'],
    jacket: ['jacket', 'blazer'],
    coat: ['coat', 'overcoat'],
    trousers: ['trousers', 'pants'],
    scarf: ['scarf', 'shawl'],
  },
  detail: {
    pockets: ['with pockets', 'that has pockets'],
    hood: ['with a hood', 'hooded'],
    lining: ['with a lining', 'lined'],
    zipper: ['with a zipper', 'that zips up'],
  },
  size: { S: ['size S', 'small'], M: ['size M', 'medium'], L: ['size L', 'large'], XL: ['size XL', 'extra large'] },
} as const

const known = [
  'looking for {color} {material} {product} {detail}, {size}, {price}',
  '{color} {product} of {material}, {detail}, {size}, {price}',
  '{material} {product} in {color}, {size}, {detail}, {price}',
  'buy {size} {product}, {color} {material}, {detail}, {price}',
]
/** In evaluation only. */
const heldOut = [
  'looking for {product} {detail}, {price}, {material}, in {color}, {size}',
  '{size} {color} {product} of {material}, {price}, {detail}',
]
const prices = ['under {limit}', 'for less than {limit}', 'at most {limit}']

/** One in five combinations of product, material and color is asked for in evaluation only. */
export function isHeldOut(product: Product, material: Material, color: Color): boolean {
  return (2 * products.indexOf(product) + 3 * materials.indexOf(material) + colors.indexOf(color)) % 5 === 0
}

export function writeRequest(split: 'train' | 'eval', rng: Rng): Request {
  let [product, material, color] = [rng.pick(products), rng.pick(materials), rng.pick(colors)]
  while (isHeldOut(product, material, color) !== (split === 'eval'))
    [product, material, color] = [rng.pick(products), rng.pick(materials), rng.pick(colors)]
  const [detail, size, limit] = [rng.pick(details), rng.pick(sizes), rng.pick(limits)]
  const text = fillIn(
    rng.pick(split === 'eval' && rng.int(2) === 0 ? heldOut : known),
    {
      ...{ material, limit: `$${limit}`, price: prices },
      ...{ product: words.product[product], detail: words.detail[detail] },
      ...{ color, size: words.size[size] },
    },
    rng,
  )
  return { product, material, detail, color, size, limit, text }
}
