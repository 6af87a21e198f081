/** The shop: its catalog, its search, and what a purchase is worth. */
import type { Rng } from '@agentgym/scenario'
import {
  type Color,
  colors,
  type Detail,
  details,
  type Limit,
  type Material,
  materials,
  type Product,
  products,
  type Request,
  type Size,
  sizes,
} from './request.ts'

export type Article = {
  id: string
  product: Product
  material: Material
  /** Only on its own page. */
  detail: Detail
  /** In dollars. */
  price: number
  /** Stars, 1 to 5. */
  rating: number
  /** What the search adds to its rank: paid placement, popularity. */
  boost: number
  colors: readonly Color[]
  sizes: readonly Size[]
  /** Offered on its page, but not in stock: found out by choosing them. */
  soldOut: readonly (Color | Size)[]
}

/** What is typed into the search. */
export type Query = { product: Product; material: Material; detail: Detail; limit: Limit }

export type Purchase = { article: Article; color: Color | null; size: Size | null }

const ARTICLES = 40
/** Articles like the one that is wanted, with one thing wrong with each. */
const DECOYS = 3
export const PAGE = 4
export const PAGES = 3
const CHEAPEST = 12
const DEAREST = 160

/** A catalog with one article that fits the request, and some that nearly do. */
export function stockShop(request: Request, rng: Rng): { catalog: Article[]; wanted: string } {
  const ids = new Set<string>()
  const draw = (fixed: Partial<Article> = {}): Article => {
    let id = ''
    do id = `B0${10_000 + rng.int(90_000)}`
    while (ids.has(id))
    ids.add(id)
    return {
      id,
      ...{ product: rng.pick(products), material: rng.pick(materials), detail: rng.pick(details) },
      ...{ price: CHEAPEST + rng.int(DEAREST - CHEAPEST), rating: 1 + rng.int(9) / 2, boost: rng() },
      ...{ colors: rng.pick(colorSets), sizes: rng.pick(sizeSets) },
      ...{ soldOut: [], ...fixed },
    }
  }
  const { product, material, detail, color, size, limit } = request
  const affordable = () => limit - 1 - rng.int(limit - CHEAPEST)
  const fits = () => ({
    product,
    material,
    detail,
    price: affordable(),
    colors: rng.pick(colorSets.filter((set) => set.includes(color))),
    sizes: rng.pick(sizeSets.filter((set) => set.includes(size))),
  })
  const wanted = draw(fits())
  const flaws: (() => Partial<Article>)[] = [
    () => ({ detail: rng.pick(details.filter((each) => each !== detail)) }),
    () => ({ soldOut: [color] }),
    () => ({ soldOut: [size] }),
    () => ({ colors: rng.pick(colorSets.filter((set) => !set.includes(color))) }),
    () => ({ price: limit + 1 + rng.int(40) }),
    () => ({ material: rng.pick(materials.filter((each) => each !== material)) }),
  ]
  const decoys = Array.from({ length: DECOYS }, () => draw({ ...fits(), ...rng.pick(flaws)() }))
  const others = Array.from({ length: ARTICLES - DECOYS - 1 }, () => draw())
  // The shop might have another that fits by chance: it is as good.
  return { catalog: rng.shuffle([wanted, ...decoys, ...others]), wanted: wanted.id }
}

/** Selections of two to four, one of which an article is made in. */
function setsOf<Value>(values: readonly Value[]): Value[][] {
  const subsets = Array.from({ length: 2 ** values.length }, (_, bits) =>
    values.filter((_, at) => (bits >> at) % 2 === 1),
  )
  return subsets.filter(({ length }) => length >= 2 && length <= 4)
}
const colorSets = setsOf(colors)
const sizeSets = setsOf(sizes)

/** How much of a query an article shows in the list: the detail is on its own page. */
export function matchesOf(article: Article, query: Pick<Query, 'product' | 'material' | 'limit'>) {
  return {
    product: article.product === query.product,
    material: article.material === query.material,
    limit: article.price < query.limit,
  }
}

/** The best results first: the product counts most, then the rest, and what the shop would like to sell. */
export function search(catalog: readonly Article[], query: Query): Article[] {
  return catalog
    .map((article) => {
      const { product, material, limit } = matchesOf(article, query)
      return { article, rank: 3 * Number(product) + Number(material) + Number(limit) + 1.5 * article.boost }
    })
    .sort((a, b) => b.rank - a.rank)
    .slice(0, PAGE * PAGES)
    .map(({ article }) => article)
}

/** Whether an article and its options can be bought as wanted. */
export function fitsRequest(
  { product, material, detail, price, colors, sizes, soldOut }: Article,
  request: Request,
): boolean {
  const offered = colors.includes(request.color) && sizes.includes(request.size)
  const inStock = !soldOut.includes(request.color) && !soldOut.includes(request.size)
  return (
    product === request.product &&
    material === request.material &&
    detail === request.detail &&
    price < request.limit &&
    offered &&
    inStock
  )
}

/**
 * WebShop's reward: the share of attributes, options and price that match, times 1 for the right type and 0 for another one.
 * Yao et al. (2022), equation 1, where every type is either right or wrong.
 */
export function scoreOf({ article, color, size }: Purchase, request: Request): number {
  if (article.product !== request.product) return 0
  const matched = [
    article.material === request.material,
    article.detail === request.detail,
    color === request.color,
    size === request.size,
    article.price < request.limit,
  ]
  return matched.filter(Boolean).length / matched.length
}
