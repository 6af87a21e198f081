/**
 * A web shop: search for what a customer asks for in words, open results, choose color and size, and buy. What is sold out is found
 * out by choosing it, some details are only on an article's own page, and some pages fail to load.
 *
 * After Yao et al. (2022), "WebShop: Towards Scalable Real-World Web Interaction with Grounded Language Agents", in small.
 */
import {
  box,
  choice,
  defineToolScenario,
  dict,
  drawFailures,
  type Failures,
  fails,
  list,
  oneHot,
  pointer,
  type ToolCall,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import { drawShop } from './draw-shop.ts'
import {
  type Color,
  colors,
  details,
  limits,
  materials,
  products,
  type Request,
  type Size,
  sizes,
  writeRequest,
} from './request.ts'
import { type Article, fitsRequest, matchesOf, PAGE, PAGES, type Query, scoreOf, search, stockShop } from './shop.ts'

const MAX_CALLS = 24
const TRAIN_REQUESTS = 100_000
const HELD_OUT_REQUESTS = 1_000_000_000

/** How many shops have a page that fails to load once. */
const chances = { search: 0.15, next_page: 0.15, open: 0.15 } as const

const WORD = 0.2
const OPENED = 0.1
const CHOSEN = 0.3
/** Of WebShop's score, which is 1 at most. */
const BOUGHT = 0.5
const CHOSEN_IN_VAIN = 0.05
const WRONG_OPTION = -0.1
const STEP = -0.03
const MISTAKE = -0.1

type ToolName = 'search' | 'next_page' | 'open' | 'back' | 'choose_color' | 'choose_size' | 'buy'

export type Visit = {
  request: Request
  catalog: readonly Article[]
  wanted: string
  /** What the search box says; null on the first page. */
  query: Query | null
  results: readonly Article[]
  /** Of the results, from 0. */
  page: number
  /** Whose page is open; null on the pages of results. */
  article: Article | null
  color: Color | null
  size: Size | null
  colorTried: boolean
  sizeTried: boolean
  /** Of the open article, something that was chosen. */
  soldOut: boolean
  opened: Set<string>
  /** Articles with an option that has been chosen. */
  chosenBefore: Set<string>
  failures: Failures<keyof typeof chances>
  failed: boolean
  /** Words of the best search so far that were right. */
  bestQuery: number
  bought: boolean
}

export default defineToolScenario({
  observation: dict({
    request: text({ maxTokens: 20, vocabulary: 512 }),
    /**
     * Start, results or article; page of the results; failed; not available; what of the open article matches the search: product,
     * material, price, detail; its price and stars; results that match in all that is shown and have not been opened.
     */
    page: box({ shape: [13], low: 0, high: 1 }),
    query: box({ shape: [products.length + materials.length + details.length + limits.length], low: 0, high: 1 }),
    chosen: box({ shape: [colors.length + sizes.length], low: 0, high: 1 }),
    /** Whether product, material and price are as searched for, whether it has been opened, price, stars. */
    results: list({ slots: PAGE, features: 6 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_REQUESTS, eval: HELD_OUT_REQUESTS },

  start({ task }): Visit {
    const rng = taskRng(task, TRAIN_REQUESTS)
    const request = writeRequest(task.split, rng)
    return {
      ...{ request, ...stockShop(request, rng), failures: drawFailures(chances, rng) },
      ...{
        query: null,
        results: [],
        page: 0,
        article: null,
        color: null,
        size: null,
        soldOut: false,
        colorTried: false,
        sizeTried: false,
      },
      ...{ opened: new Set(), chosenBefore: new Set(), failed: false, bestQuery: 0, bought: false },
    }
  },

  tools: {
    search: tool({
      description: 'Search the shop; what is searched for is highlighted on every page',
      cost: { tokens: 150, seconds: 3 },
      parameters: {
        product: choice(products),
        material: choice(materials),
        detail: choice(details),
        limit: choice(limits.map(String)),
      },
      run(visit: Visit, { product, material, detail, limit }) {
        if (fails(visit.failures, 'search')) return fail(visit)
        const { request } = visit
        visit.query = { product, material, detail, limit: limits[limits.map(String).indexOf(limit)] }
        visit.results = search(visit.catalog, visit.query)
        visit.page = 0
        const right = (['product', 'material', 'detail', 'limit'] as const).filter(
          (word) => visit.query?.[word] === request[word],
        ).length
        const better = Math.max(0, right - visit.bestQuery)
        visit.bestQuery += better
        return end(visit, better > 0, WORD * better)
      },
    }),
    next_page: tool({
      description: 'Show the next page of results; after the last one, the first',
      cost: { tokens: 120, seconds: 2 },
      run(visit: Visit) {
        if (fails(visit.failures, 'next_page')) return fail(visit)
        // Some result of this page is worth opening.
        const missed = shown(visit).some((article) => isCandidate(visit, article))
        visit.page = (visit.page + 1) % PAGES
        return end(visit, !missed, STEP)
      },
    }),
    open: tool({
      description: "Open a result's own page",
      cost: { tokens: 400, seconds: 3 },
      parameters: { result: pointer('results') },
      allowed: (visit: Visit) => ({ result: unopened(visit).map(({ id }) => id) }),
      run(visit: Visit, { result }) {
        if (fails(visit.failures, 'open')) return fail(visit)
        const article = visit.catalog.find(({ id }) => id === result)
        if (article === undefined) throw new Error(`no article ${result}`)
        const right = isCandidate(visit, article)
        Object.assign(visit, { article, color: null, size: null, soldOut: false, colorTried: false, sizeTried: false })
        visit.opened.add(result)
        return end(visit, right, OPENED)
      },
    }),
    back: tool({
      description: 'Back to the results',
      cost: { tokens: 120, seconds: 1 },
      run(visit: Visit) {
        const spoiled = visit.article === null || !canBeRight(visit, visit.article)
        visit.article = null
        return end(visit, spoiled, 0)
      },
    }),
    choose_color: tool({
      description: 'Choose the color, once for each visit to an article; it may be sold out, or not offered',
      cost: { tokens: 20, seconds: 1 },
      parameters: { color: choice(colors) },
      run: (visit: Visit, { color }) => choose(visit, { color }),
    }),
    choose_size: tool({
      description: 'Choose the size, once for each visit to an article; it may be sold out, or not offered',
      cost: { tokens: 20, seconds: 1 },
      parameters: { size: choice(sizes) },
      run: (visit: Visit, { size }) => choose(visit, { size }),
    }),
    buy: tool({
      description: 'Buy the open article with the options that are chosen. Cannot be undone',
      cost: { tokens: 60, seconds: 8 },
      run(visit: Visit) {
        visit.bought = true
        visit.failed = false
        return { right: scoreNow(visit) === 1, reward: BOUGHT * scoreNow(visit), done: true }
      },
    }),
  },

  available({ article, query, colorTried, sizeTried }) {
    if (article !== null) {
      const options = [
        ...(colorTried ? [] : (['choose_color'] as const)),
        ...(sizeTried ? [] : (['choose_size'] as const)),
      ]
      return ['back', ...options, 'buy']
    }
    return query === null ? ['search'] : ['search', 'next_page', 'open']
  },

  observe(visit) {
    const { request, query, page, article, color, size, soldOut, failed, opened } = visit
    const highlighted = unopened(visit).filter((result) => {
      const { product, material, limit } = matchesOf(result, query ?? request)
      return product && material && limit
    })
    const matched = article !== null && query !== null ? matchesOf(article, query) : null
    return {
      request: request.text,
      page: [
        ...[query === null, query !== null && article === null, article !== null].map(Number),
        ...[page / PAGES, failed ? 1 : 0, soldOut ? 1 : 0],
        ...[
          matched?.product,
          matched?.material,
          matched?.limit,
          article !== null && article.detail === query?.detail,
        ].map((is) => (is ? 1 : 0)),
        ...[(article?.price ?? 0) / 200, (article?.rating ?? 0) / 5, highlighted.length / PAGE],
      ],
      query: [
        ...[...oneHot(products, query?.product), ...oneHot(materials, query?.material)],
        ...[...oneHot(details, query?.detail), ...oneHot(limits, query?.limit)],
      ],
      chosen: [...oneHot(colors, color), ...oneHot(sizes, size)],
      results: shown(visit).map((result) => {
        const { product, material, limit } = matchesOf(result, query ?? request)
        return {
          id: result.id,
          features: [
            Number(product),
            Number(material),
            Number(limit),
            opened.has(result.id) ? 1 : 0,
            result.price / 200,
            result.rating / 5,
          ],
        }
      }),
    }
  },

  oracle: nextCall,

  outcome: (visit) => (visit.bought && scoreNow(visit) === 1 ? 2 : 0),
  metrics: (visit) => ({ score: visit.bought ? scoreNow(visit) : 0, opened: visit.opened.size }),

  render(visit) {
    return drawShop({ ...visit, results: shown(visit), message: messageOf(visit) })
  },
})

function messageOf(visit: Visit): Parameters<typeof drawShop>[0]['message'] {
  if (visit.bought) {
    const score = scoreNow(visit)
    return score === 1
      ? { text: 'Bought: everything as asked for', color: 'green' }
      : { text: `Bought: ${Math.round(100 * score)}% as asked for`, color: 'failure' }
  }
  if (visit.failed) return { text: 'This page could not be loaded', color: 'warning' }
  if (visit.soldOut) return { text: 'Not available', color: 'warning' }
  return { text: '', color: 'dim' }
}

/** The next call of a customer who knows which article fits. */
function nextCall(visit: Visit): ToolCall<ToolName> {
  const { request, article, query, wanted } = visit
  if (query === null) {
    const { product, material, detail, limit } = request
    return { tool: 'search', arguments: { product, material, detail, limit: String(limit) } }
  }
  if (article === null) {
    const here = shown(visit).some(({ id }) => id === wanted)
    return here ? { tool: 'open', arguments: { result: wanted } } : { tool: 'next_page' }
  }
  if (visit.color !== request.color) return { tool: 'choose_color', arguments: { color: request.color } }
  if (visit.size !== request.size) return { tool: 'choose_size', arguments: { size: request.size } }
  return { tool: 'buy' }
}

/** The results on this page. */
function shown({ results, page, article }: Visit): Article[] {
  return article === null ? results.slice(page * PAGE, (page + 1) * PAGE) : []
}

/** Of the results on this page, those that can be opened: each once. */
function unopened(visit: Visit): Article[] {
  return shown(visit).filter(({ id }) => !visit.opened.has(id))
}

/** Whether the list of results says nothing against it, and it has not been opened. */
function isCandidate({ request, opened }: Visit, article: Article): boolean {
  const { product, material, limit } = matchesOf(article, request)
  return product && material && limit && !opened.has(article.id)
}

/** Whether the open article can still be bought as wanted, with what has been chosen. */
function canBeRight({ request, color, size }: Visit, article: Article): boolean {
  const chosen = (color === null || color === request.color) && (size === null || size === request.size)
  return chosen && fitsRequest(article, request)
}

/** Chooses an option. The right one is worth more where nothing else speaks against the article. */
function choose(visit: Visit, option: { color: Color } | { size: Size }) {
  const { article, request, chosenBefore } = visit
  if (article === null) throw new Error('no article is open')
  const [value, wanted] = 'color' in option ? [option.color, request.color] : [option.size, request.size]
  const step = `${article.id} ${value}`
  const right = value === wanted && !chosenBefore.has(step)
  chosenBefore.add(step)
  if ('color' in option) visit.colorTried = true
  else visit.sizeTried = true
  const offered: readonly string[] = [...article.colors, ...article.sizes]
  if (offered.includes(value) && !article.soldOut.includes(value)) Object.assign(visit, option)
  else visit.soldOut = true
  return end(visit, right, scoreOf({ article, ...request }, request) === 1 ? CHOSEN : CHOSEN_IN_VAIN, WRONG_OPTION)
}

function scoreNow({ article, color, size, request }: Visit): number {
  return article === null ? 0 : scoreOf({ article, color, size }, request)
}

function end(visit: Visit, right: boolean, reward: number, otherwise = MISTAKE) {
  visit.failed = false
  return { right, reward: right ? reward : otherwise }
}

/** A page that does not load: nothing has changed. */
function fail(visit: Visit) {
  visit.failed = true
  return { reward: STEP }
}
