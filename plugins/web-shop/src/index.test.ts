import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import scenario, { type Visit } from './index.ts'
import {
  colors,
  details,
  isHeldOut,
  limits,
  materials,
  products,
  type Request,
  sizes,
  writeRequest,
} from './request.ts'
import { fitsRequest, PAGE, PAGES, scoreOf, search, stockShop } from './shop.ts'

const tools = ['search', 'next_page', 'open', 'back', 'choose_color', 'choose_size', 'buy']

/** A shop in which every page loads, and a way to call its tools by name. */
async function visitShop(index: number) {
  const context = { rng: createRng(index), task: { split: 'train', index } } as const
  const episode = await scenario.reset(context)
  const visit = episode.state
  visit.failures = {}
  const call = (name: string, args: object = {}) => {
    scenario.observe(episode)
    const action = { tool: tools.indexOf(name), [name]: args }
    return scenario.step(episode, action as never, context) as { reward: number; terminated: boolean }
  }
  const { request } = visit
  const query = {
    product: products.indexOf(request.product),
    material: materials.indexOf(request.material),
    detail: details.indexOf(request.detail),
    limit: limits.indexOf(request.limit),
  }
  return {
    ...{ visit, request, query, call },
    observe: () => scenario.observe(episode),
    legal() {
      scenario.observe(episode)
      const masks = scenario.actionMask?.(episode) as { tool: boolean[] } | undefined
      return tools.filter((_, each) => masks?.tool[each])
    },
    /** Searches, turns pages until it is there, and opens it. */
    find(id: string) {
      call('search', query)
      for (let page = 0; page < PAGES; page += 1) {
        const result = scenario.observe(episode).results.findIndex((each) => each.id === id)
        if (result >= 0) return call('open', { result })
        call('next_page')
      }
      throw new Error(`${id} is not among the results`)
    },
    color: (color: Request['color']) => call('choose_color', { color: colors.indexOf(color) }),
    size: (size: Request['size']) => call('choose_size', { size: sizes.indexOf(size) }),
    solved: () => scenario.metrics?.(episode).solved,
    score: () => scenario.metrics?.(episode).score,
  }
}

/** Changes the wanted article. */
function change(visit: Visit, changes: Partial<Visit['catalog'][number]>) {
  visit.catalog = visit.catalog.map((each) => (each.id === visit.wanted ? { ...each, ...changes } : each))
}

test('who knows what fits buys it; chance does next to never', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, score: 1, opened: 1 })
  for (const player of ['random', 'first'] as const) {
    const { solved, score } = meansOf(scenario, player, 192)
    expect(solved).toBeLessThan(0.02)
    expect(score).toBeLessThan(0.2)
  }
})

test('search, open, choose, buy', async () => {
  const { visit, request, find, color, size, call, solved, score, legal } = await visitShop(1)
  expect(legal()).toEqual(['search'])
  find(visit.wanted)
  expect(legal()).toEqual(['back', 'choose_color', 'choose_size', 'buy'])
  expect(color(request.color).reward).toBeGreaterThan(0)
  // Once for each visit.
  expect(legal()).toEqual(['back', 'choose_size', 'buy'])
  expect(size(request.size).reward).toBeGreaterThan(0)
  expect(call('buy').terminated).toBe(true)
  expect([solved(), score()]).toEqual([1, 1])
})

test('a purchase without the right size is worth four fifths, and not solved', async () => {
  const { visit, request, find, color, call, solved, score } = await visitShop(2)
  find(visit.wanted)
  color(request.color)
  expect(call('buy').reward).toBeCloseTo(0.4)
  expect([solved(), score()]).toEqual([0, 0.8])
})

test('what is sold out is found out by choosing it', async () => {
  const { visit, request, find, color, size, observe } = await visitShop(3)
  change(visit, { soldOut: [request.color] })
  find(visit.wanted)
  const soldOut = () => observe().page[5]
  expect(soldOut()).toBe(0)
  color(request.color)
  expect(visit.color).toBe(null)
  expect(soldOut()).toBe(1)
  size(request.size)
  expect(visit.size).toBe(request.size)
})

test('so is what an article is not made in', async () => {
  const { visit, request, find, size } = await visitShop(4)
  change(visit, { sizes: sizes.filter((each) => each !== request.size) })
  find(visit.wanted)
  size(request.size)
  expect([visit.size, visit.soldOut]).toEqual([null, true])
})

test('a page that does not load has to be asked for again', async () => {
  const { visit, query, call, observe } = await visitShop(5)
  visit.failures = { search: 1 }
  call('search', query)
  expect(visit.query).toBe(null)
  expect(observe().page[4]).toBe(1)
  call('search', query)
  expect(visit.query?.product).toBe(visit.request.product)
  expect(observe().page[4]).toBe(0)
})

test('who can read, but does not know the shop, has calls enough', async () => {
  let solved = 0
  for (let index = 0; index < 200; index += 1) {
    const { visit, request, query, call, observe, color, size, solved: isSolved } = await visitShop(index)
    for (let ended = false; !ended; ) {
      const { results, page } = observe()
      const [matchesDetail, soldOut] = [page[9] === 1, page[5] === 1]
      // Product, material and price match, and it has not been opened.
      const result = results.findIndex(({ features }) => features.slice(0, 4).join() === '1,1,1,0')
      if (visit.query === null) call('search', query)
      else if (visit.article === null) ended = (result < 0 ? call('next_page') : call('open', { result })).terminated
      else if (!matchesDetail || soldOut) ended = call('back').terminated
      else if (visit.color === null) ended = color(request.color).terminated
      else if (visit.size === null) ended = size(request.size).terminated
      else ended = call('buy').terminated
    }
    solved += isSolved() ?? 0
  }
  expect(solved).toBeGreaterThan(190)
})

test('highlights follow the search, not the request', async () => {
  const { query, call, observe } = await visitShop(6)
  const matches = () => observe().results.map(({ features }) => features[0])
  call('search', query)
  const right = matches()
  call('search', { ...query, product: (query.product + 1) % products.length })
  expect(right.every((match) => match === 1)).toBe(true)
  expect(observe().results.some(({ features }) => features[0] === 1)).toBe(true)
  expect(observe().query.indexOf(1)).toBe((query.product + 1) % products.length)
})

test('better searches pay, and the same search only once', async () => {
  const { query, call } = await visitShop(7)
  const poor = { ...query, material: (query.material + 1) % materials.length }
  expect(call('search', poor).reward).toBeCloseTo(0.6)
  expect(call('search', query).reward).toBeCloseTo(0.2)
  expect(call('search', query).reward).toBeLessThan(0)
})

test('the score is the share that matches, and nothing for another product', () => {
  const request = writeRequest('train', createRng(8))
  const { catalog, wanted } = stockShop(request, createRng(8))
  const article = catalog.find(({ id }) => id === wanted)
  if (article === undefined) throw new Error('not in stock')
  const { color, size, limit } = request
  expect(scoreOf({ article, color, size }, request)).toBe(1)
  expect(scoreOf({ article: { ...article, price: limit }, color, size: null }, request)).toBeCloseTo(0.6)
  const other = products.find((each) => each !== article.product) ?? 'shirt'
  expect(scoreOf({ article: { ...article, product: other }, color, size }, request)).toBe(0)
})

test('every shop has what is wanted, among the results of the right search', () => {
  let nearMisses = 0
  for (let seed = 0; seed < 400; seed += 1) {
    const draw = () => {
      const rng = createRng(seed)
      const request = writeRequest('train', rng)
      return { request, ...stockShop(request, rng) }
    }
    const { request, catalog, wanted } = draw()
    expect(draw().catalog).toEqual(catalog)
    const results = search(catalog, request)
    expect(results).toHaveLength(PAGE * PAGES)
    const article = results.find(({ id }) => id === wanted)
    expect(article !== undefined && fitsRequest(article, request)).toBe(true)
    nearMisses += results.filter((each) => each.product === request.product && !fitsRequest(each, request)).length
  }
  expect(nearMisses / 400).toBeGreaterThan(2)
})

test('held-out combinations and sentences are not in training', () => {
  const requests = (split: 'train' | 'eval') =>
    Array.from({ length: 2000 }, (_, seed) => writeRequest(split, createRng(seed)))
  for (const { product, material, color } of requests('train')) expect(isHeldOut(product, material, color)).toBe(false)
  for (const { product, material, color } of requests('eval')) expect(isHeldOut(product, material, color)).toBe(true)
  const words = (split: 'train' | 'eval') =>
    new Set(requests(split).flatMap(({ text }) => text.toLowerCase().split(/\W+/)))
  const known = words('train')
  expect([...words('eval')].filter((word) => !known.has(word))).toEqual([])
  // Other sentences of the same words.
  expect(requests('train').some(({ text }) => /^looking for (shirt|button)/.test(text))).toBe(false)
  expect(requests('eval').some(({ text }) => /^looking for (shirt|button)/.test(text))).toBe(true)
})

test('no shop is in both splits', async () => {
  const drawn = async (split: 'train' | 'eval') =>
    Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const { state } = await scenario.reset({ rng: createRng(1), task: { split, index } })
        return JSON.stringify([state.request.text, state.catalog])
      }),
    )
  const trained = new Set(await drawn('train'))
  const held = await drawn('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((shop) => trained.has(shop))).toEqual([])
})

test('the window shows the results, then the article and what became of it', async () => {
  const { visit, request, find, call } = await visitShop(9)
  const lines = () =>
    (scenario.render?.({ state: visit } as never)?.shapes ?? []).flatMap((shape) =>
      shape.kind === 'text' ? [shape.text] : [],
    )
  expect(lines()).toContain('Search')
  find(visit.wanted)
  expect(lines().some((line) => line.startsWith(`${request.material} ${request.product}`))).toBe(true)
  call('buy')
  expect(lines()).toContain('Bought: 60% as asked for')
})
