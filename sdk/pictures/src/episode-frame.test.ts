import { type SampleEpisode, type ScenarioView, sampleEpisodeSchema, scenarioViewSchema } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleEpisode } from '../../../testdata/episodes/sample-episode.ts'
import { episodeView } from './episode.ts'
import { episodeFrame } from './episode-frame.ts'
import { type SvgElement, svgMarkup } from './svg.ts'

/** Elements of that class, at any depth. */
function ofClass(element: SvgElement, name: string): SvgElement[] {
  const own = String(element.attributes.class ?? '').split(' ')
  const inner = element.children.flatMap((child) => (typeof child === 'string' ? [] : ofClass(child, name)))
  return own.includes(name) ? [element, ...inner] : inner
}

function only(element: SvgElement, name: string): Record<string, string | number> {
  const found = ofClass(element, name)
  expect(found, name).toHaveLength(1)
  return found[0].attributes
}

/** An episode of these observations, one action between each two. */
function seen(observations: number[][], view: ScenarioView | null, texts: string[][] = []): SampleEpisode {
  const last = observations.length - 1
  const moment = (index: number) => ({ observation: observations[index], texts: texts[index] ?? [] })
  return sampleEpisode({
    view,
    observation: [{ name: '', kind: 'box', size: observations[0].length, shape: [observations[0].length] }],
    steps: Array.from({ length: last }, (_, index) => ({ ...moment(index), action: [index % 2], reward: 1 })),
    last: moment(last),
  })
}

describe('a cart', () => {
  const view: ScenarioView = { kind: 'cart', position: 0, angle: 1, track: { low: -2, high: 2 } }
  const turned = (frame: SvgElement) =>
    JSON.stringify(frame)
      .match(/rotate\((-?[\d.]+)\)/g)
      ?.map((text) => Number(text.slice(7, -1))) ?? []
  const along = (frame: SvgElement) => Number(/translate\((-?[\d.]+) /.exec(JSON.stringify(frame))?.[1])

  it('is drawn at its position, with the pole at its angle', () => {
    const episode = seen(
      [
        [-2, 0],
        [0, Math.PI / 6],
        [2, -0.1],
      ],
      view,
    )
    expect([0, 1, 2].map((index) => along(episodeFrame(episode, view, index)))).toEqual([32, 160, 288])
    // Clockwise on the screen, as SVG turns.
    expect(turned(episodeFrame(episode, view, 1))).toEqual([0, 30])
    expect(turned(episodeFrame(episode, view, 2))[1]).toBeCloseTo(-5.73, 2)
  })

  it('follows hills with both axles, its pole staying upright', () => {
    const hilly: ScenarioView = { ...view, track: { low: 0, high: 1, heights: [0, 0.25, 0.5], goal: 1 } }
    const frame = episodeFrame(
      seen(
        [
          [0.5, 0],
          [0.5, 0],
        ],
        hilly,
      ),
      hilly,
      0,
    )
    const [slope, pole] = turned(frame)
    expect(slope).toBeCloseTo(-26.57, 1)
    expect(slope + pole).toBeCloseTo(0, 6)
    expect(ofClass(frame, 'pic-goal')).toHaveLength(1)
  })
})

describe('rods', () => {
  const rods = (zero: 'up' | 'down', observation: number[], links: { cos: number; sin: number }[]) => {
    const view: ScenarioView = { kind: 'links', links, zero }
    const { cx, cy } = only(episodeFrame(seen([observation, observation], view), view, 0), 'pic-tip')
    return [Number(cx) - 160, 120 - Number(cy)]
  }
  const one = [{ cos: 0, sin: 1 }]
  it('point up or down at angle 0, and turn counter-clockwise from there', () => {
    expect(rods('up', [1, 0], one)).toEqual([0, 98])
    expect(rods('down', [1, 0], one)).toEqual([0, -98])
    expect(rods('up', [0, 1], one)).toEqual([-98, 0])
    expect(rods('down', [0, 1], one)).toEqual([98, 0])
  })
  it('are each relative to the one before', () => {
    const two = [...one, { cos: 2, sin: 3 }]
    expect(rods('down', [0, 1, 0, 1], two)).toEqual([49, 49])
  })
})

it('lines are one for each number, the first six where there are more', () => {
  const frame = (columns: number) => episodeFrame(seen([Array(columns).fill(0), Array(columns).fill(1)], null), null, 1)
  expect(ofClass(frame(3), 'pic-series')).toHaveLength(3)
  expect(ofClass(frame(9), 'pic-series')).toHaveLength(6)
  expect(svgMarkup(frame(9))).toContain('and 3 more numbers')
})

it('a transcript shows the text, and the calls made so far', () => {
  const view: ScenarioView = { kind: 'transcript' }
  const episode = { ...seen([[0], [0], [0]], view, [['Where is my parcel?']]) }
  const calls = [0, 1, 2].map((index) => ofClass(episodeFrame(episode, view, index), 'pic-call').length)
  expect(calls).toEqual([0, 1, 2])
  expect(svgMarkup(episodeFrame(episode, view, 2))).toContain('>Where is my parcel?<')
})

it('describes itself in words', () => {
  const frame = episodeFrame(sampleEpisode(), null, 1, { title: 'Maze' })
  expect(frame.attributes).toMatchObject({ role: 'img' })
  expect(svgMarkup(frame)).toContain(
    '<title>Maze</title><desc>Step 1 of 2. Random policy: 2 steps, return 0.5; terminated.</desc>',
  )
  expect(episodeFrame(sampleEpisode(), null, 1, { title: null }).attributes).toMatchObject({ 'aria-hidden': 'true' })
})

const column = fc.nat(8)
const track = fc
  .record({
    low: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    high: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    heights: fc.option(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 5 }), {
      nil: undefined,
    }),
    goal: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { nil: undefined }),
  })
  .filter(({ low, high }) => low < high)
const label = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
const side = fc.integer({ min: 1, max: 5 })
const views: fc.Arbitrary<ScenarioView | null> = fc.oneof(
  fc.constant(null),
  fc.record({ kind: fc.constant('cart'), position: column, angle: fc.option(column, { nil: undefined }), track }),
  fc.record({
    kind: fc.constant('links'),
    links: fc.array(fc.record({ cos: column, sin: column }), { minLength: 1, maxLength: 4 }),
    zero: fc.constantFrom('up' as const, 'down' as const),
    goal: fc.option(fc.double({ min: -9, max: 9, noNaN: true }), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('grid'),
    at: column,
    shape: fc.tuple(side, side, side),
    channels: fc.array(fc.constantFrom('wall', 'trail', 'goal', 'agent', 'item'), { minLength: 1, maxLength: 5 }),
    moves: fc.option(fc.array(fc.tuple(fc.integer({ min: -1, max: 1 }), fc.integer({ min: -1, max: 1 }))), {
      nil: undefined,
    }),
  }),
  fc.record({ kind: fc.constant('transcript'), facts: fc.array(label, { maxLength: 9 }) }),
  fc.record({ kind: fc.constant('lines'), labels: fc.array(label, { maxLength: 9 }) }),
) as fc.Arbitrary<ScenarioView | null>

const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, 1, -1, 1e300, -1e300))
const moment = fc.record({
  observation: fc.array(number, { maxLength: 80 }),
  texts: fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 4 }),
})
const episodes = fc.record({
  view: views,
  observation: fc.constant([{ name: 'a<b', kind: 'text' as const, size: 0, shape: [1] }]),
  action: fc.constantFrom(
    [],
    [{ name: '"', kind: 'discrete' as const, size: 1, shape: [1], labels: ['<&>', 'b'] }],
    [{ name: '', kind: 'box' as const, size: 3, shape: [3], labels: [] }],
  ),
  steps: fc
    .array(fc.tuple(moment, fc.array(number, { maxLength: 4 }), number), { minLength: 1, maxLength: 6 })
    .map((steps) => steps.map(([seen, action, reward]) => ({ ...seen, action, reward }))),
  last: moment,
  end: fc.constantFrom('terminated' as const, 'truncated' as const, 'cut' as const),
})

it('draws any episode with finite numbers and escaped text', () => {
  fc.assert(
    fc.property(episodes, fc.integer({ min: -2, max: 9 }), (changes, index) => {
      const parsed = sampleEpisodeSchema.safeParse({ ...sampleEpisode(), ...changes })
      if (!parsed.success) return
      const markup = svgMarkup(episodeFrame(parsed.data, episodeView(parsed.data), index))
      expect(markup).not.toMatch(/NaN|Infinity|undefined/)
      // Nothing but our own elements, and every attribute closed.
      const rest = markup.replaceAll(
        /<\/?(svg|title|desc|g|line|polyline|polygon|path|rect|circle|text)( [\w-]+="[^"<>]*")*>/gi,
        '',
      )
      expect(rest).not.toMatch(/[<>"]/)
    }),
    { numRuns: 400 },
  )
})

it('ignores a view that does not fit the recording', () => {
  const view = scenarioViewSchema.parse({ kind: 'cart', position: 5, track: { low: 0, high: 1 } })
  expect(episodeView(sampleEpisode({ view }))).toBeNull()
  expect(episodeView(sampleEpisode({ view: { kind: 'lines', labels: ['x', 'y'] } }))).not.toBeNull()
  expect(episodeView(sampleEpisode({ view: { kind: 'transcript' } }))).toBeNull()
})
