import type { Scene, SceneColor, SceneShape } from '@agentgym/scenario'
import { type Color, colors, type Request, type Size, sizes } from './request.ts'
import { type Article, matchesOf, type Query } from './shop.ts'

const WIDTH = 30
const ROW = 2.6
const TOP = 8.4
/** The nearest role for each color. */
const swatches: Record<Color, SceneColor> = {
  red: 'failure',
  blue: 'blue',
  green: 'green',
  black: 'ink',
  white: 'line',
}

export type ShopView = {
  request: Request
  query: Query | null
  page: number
  results: readonly Article[]
  article: Article | null
  color: Color | null
  size: Size | null
  opened: ReadonlySet<string>
  /** What to say below the page, and whether it is good news. */
  message: { text: string; color: SceneColor }
}

/** The browser window: the request, the search box, and the results or the article that is open. */
export function drawShop(view: ShopView): Scene {
  const { request, query, article, message } = view
  const typed = query === null ? '' : `${query.material} ${query.product} ${query.detail} under $${query.limit}`
  return {
    width: WIDTH,
    height: TOP + 4 * ROW + 1.8,
    shapes: [
      ...wrap(`“${request.text}”`).map(
        (text, line): SceneShape => ({ kind: 'text', x: 0.6, y: 1.2 + 1.25 * line, text }),
      ),
      { kind: 'rect', x: 0.6, y: TOP - 3.4, width: WIDTH - 1.2, height: 1.8, color: 'floor' },
      {
        kind: 'text',
        x: 1.2,
        y: TOP - 2.2,
        text: typed === '' ? 'Search' : typed,
        color: typed === '' ? 'dim' : 'ink',
      },
      ...(article === null ? drawResults(view) : drawArticle(view, article)),
      { kind: 'text', x: 0.6, y: TOP + 4 * ROW + 1, ...message },
    ],
  }
}

/** Lines of whole words. */
function wrap(text: string): string[] {
  return text.match(/.{1,46}(?= |$)/g)?.map((line) => line.trim()) ?? []
}

function drawResults({ results, query, opened, page }: ShopView): SceneShape[] {
  if (query === null) return []
  const heading = { kind: 'text', x: 0.6, y: TOP - 0.4, text: `Results, page ${page + 1}`, color: 'dim' } as const
  return [
    heading,
    ...results.flatMap((article, row): SceneShape[] => {
      const y = TOP + row * ROW
      const { product, material, limit } = matchesOf(article, query)
      const ink = opened.has(article.id) ? 'dim' : 'ink'
      return [
        { kind: 'rect', x: 0.6, y, width: WIDTH - 1.2, height: ROW - 0.3, color: 'line', outline: true },
        { kind: 'text', x: 1.2, y: y + 1.5, text: article.material, color: material ? 'accent' : ink },
        { kind: 'text', x: 6, y: y + 1.5, text: article.product, color: product ? 'accent' : ink },
        { kind: 'text', x: 12, y: y + 1.5, text: `$${article.price}`, color: limit ? 'accent' : ink },
        { kind: 'text', x: 17, y: y + 1.5, text: `${article.rating} stars`, color: 'dim' },
        { kind: 'text', x: WIDTH - 1.2, y: y + 1.5, text: article.id, align: 'end', color: 'dim' },
      ]
    }),
  ]
}

function drawArticle({ color, size }: ShopView, article: Article): SceneShape[] {
  const { material, product, detail, price, rating } = article
  const text = `${material} ${product}, with ${detail}, $${price}, ${rating} stars`
  return [
    { kind: 'rect', x: 0.6, y: TOP - 0.6, width: WIDTH - 1.2, height: 4 * ROW + 0.3, color: 'line', outline: true },
    { kind: 'text', x: 1.2, y: TOP + 1, text, color: 'ink' },
    ...colors
      .filter((each) => article.colors.includes(each))
      .flatMap((each, column): SceneShape[] => {
        const [x, y] = [2.2 + 4.5 * column, TOP + 4]
        const chosen = { kind: 'circle', x, y, radius: 1.2, color: 'accent', outline: true } as const
        return [
          { kind: 'circle', x, y, radius: 0.9, color: swatches[each] },
          { kind: 'text', x, y: y + 2.2, text: each, align: 'middle', color: each === color ? 'accent' : 'dim' },
          ...(each === color ? [chosen] : []),
        ]
      }),
    ...sizes
      .filter((each) => article.sizes.includes(each))
      .flatMap((each, column): SceneShape[] => {
        const [x, y] = [1.2 + 4.5 * column, TOP + 7.4]
        const frame = each === size ? 'accent' : 'line'
        return [
          { kind: 'rect', x, y, width: 2, height: 1.8, color: frame, outline: true },
          { kind: 'text', x: x + 1, y: y + 1.2, text: each, align: 'middle', color: each === size ? 'accent' : 'ink' },
        ]
      }),
  ]
}
