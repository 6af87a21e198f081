import { describeOnEngines } from '@agentgym/testkit/databases'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../core/database/database.ts'
import { listed } from './testing/listed.ts'
import { loadPackages } from './testing/load-packages.ts'
import { search, searchAll } from './testing/search-all.ts'

describeOnEngines('words on $kind', ({ open }) => {
  let database: Database
  beforeAll(async () => {
    database = await open()
    await loadPackages(database, [
      listed('@acme/zephyr'),
      listed('@acme/by-title', { title: 'The zephyr' }),
      listed('@acme/by-keyword', { keywords: ['zephyr'], summary: 'One more word here' }),
      listed('@acme/by-summary', { summary: 'Ride the zephyr' }),
      listed('@acme/by-readme', { readme: 'zephyr '.repeat(500), downloads: 1_000_000, quality: 100 }),
      listed('@acme/cart-pole', { title: 'Cart pole', summary: 'Balance a pole on a cart.' }),
      listed('@acme/cart-pole-hard', { title: 'Cart pole', summary: 'Balance a pole on a cart.', downloads: 9_000 }),
      listed('@other/cart-pole', { title: 'Cart pole' }),
      listed('@acme/lunar-lander', { title: 'Lunar lander', readme: 'Policies that run and land.' }),
      listed('@acme/cafe', { title: 'Café', summary: 'Ça va' }),
      listed('@acme/chinese', { title: '强化学习环境', readme: '倒立摆 مرحبا بالعالم' }),
    ])
  })
  afterAll(() => database.close())
  const names = async (q: string) => (await search(database, { q })).rows.map(({ name }) => name.replace('@acme/', ''))

  it('ranks names, then titles and keywords, then summaries, then READMEs, whatever the downloads', async () => {
    const found = await names('zephyr')
    expect(found[0]).toBe('zephyr')
    expect(found.slice(1, 3).sort()).toEqual(['by-keyword', 'by-title'])
    expect(found.slice(3)).toEqual(['by-summary', 'by-readme'])
  })

  it.each(['cart-pole', 'cart pole', 'Cart-Pole', ' cart-pole '])('finds a name without its scope: %j', async (q) => {
    const found = await names(q)
    expect(found.slice(0, 2).sort()).toEqual(['@other/cart-pole', 'cart-pole'])
    expect(found[2]).toBe('cart-pole-hard')
  })

  it.each(['@acme/cart-pole', 'acme/cart-pole'])('ranks an exact name first: %j', async (q) => {
    expect((await names(q))[0]).toBe('cart-pole')
  })

  it('finds by a prefix of the last word, by joined names, and within a scope', async () => {
    expect(await names('lunar la')).toEqual(['lunar-lander'])
    expect(await names('lunarlander')).toEqual(['lunar-lander'])
    expect(await names('lun')).toEqual(['lunar-lander'])
    expect(await names('l')).toEqual([])
    expect(await names('@other/')).toEqual(['@other/cart-pole'])
  })

  it('supports English word forms and stop words, and ignores accents', async () => {
    expect(await names('balancing poles')).toHaveLength(2)
    expect(await names('policy of running')).toEqual(['lunar-lander'])
    expect(await names('cafe')).toEqual(['cafe'])
    expect(await names('CAFÉ')).toEqual(['cafe'])
  })

  it('supports scripts without spaces and right-to-left scripts', async () => {
    expect(await names('学习')).toEqual(['chinese'])
    expect(await names('摆')).toEqual(['chinese'])
    expect(await names('مرحبا')).toEqual(['chinese'])
    expect(await names('学校')).toEqual([])
  })

  it('accepts any input', async () => {
    const operators = fc.constantFrom(
      '&',
      '|',
      '!',
      ':*',
      '<->',
      '(',
      "'",
      '\\',
      '\0',
      '%',
      'a',
      ' ',
      '"',
      '强',
      '🚗',
      '-',
    )
    const typed = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.array(operators).map((parts) => parts.join('')),
    )
    await fc.assert(
      fc.asyncProperty(typed, async (q) => {
        await search(database, { q })
      }),
      { numRuns: 60 },
    )
  })

  it('accepts texts that become many times longer by normalization', async () => {
    // U+FDFA becomes eighteen characters.
    const long = '\ufdfa'.repeat(60_000)
    const distinct = Array.from({ length: 20_000 }, (_, index) => `${index}\ufdfa`).join(' ')
    await loadPackages(database, [
      listed('@long/one', { title: long.slice(0, 80), summary: long.slice(0, 280), readme: long }),
      listed('@long/many', { keywords: [distinct.slice(0, 2_500)], readme: distinct }),
    ])
    expect((await names(long.slice(0, 200))).sort()).toEqual(['@long/one'])
    expect(await names('@long/')).toHaveLength(2)
  })

  it('finds nothing if a word is missing, and everything without words', async () => {
    expect(await names('cart nowhere')).toEqual([])
    expect(await searchAll(database, { q: ' ?! ' })).toHaveLength(13)
  })
})
