import { readFileSync } from 'node:fs'
import type { ScenarioView } from '@agentgym/contract'
import { expect, it } from 'vitest'
import { sampleEpisode } from '../../../testdata/episodes/sample-episode.ts'
import { displayList, readPictureStyles } from './display-list.ts'
import type { Episode } from './episode.ts'
import { episodeFrame } from './episode-frame.ts'
import { terminalFrame } from './terminal-frame.ts'

const styles = readPictureStyles(readFileSync(new URL('../styles/pictures.css', import.meta.url), 'utf8'))
const size = { columns: 60, rows: 15, unicode: true, color: true, styles }

function shown(episode: Episode, view: ScenarioView | null, index: number, more: Partial<typeof size> = {}): string[] {
  const rows = terminalFrame(episode, view, index, { ...size, ...more })
  return rows.map((row) => row.map(({ text }) => text).join(''))
}

const cart: ScenarioView = { kind: 'cart', position: 0, angle: 1, track: { low: -1, high: 1 } }

it('every class that a frame uses has a rule', () => {
  const names = (element: ReturnType<typeof episodeFrame>): string[] => [
    ...String(element.attributes.class ?? '').split(' '),
    ...element.children.flatMap((child) => (typeof child === 'string' ? [] : names(child))),
  ]
  const used = new Set(names(episodeFrame(sampleEpisode(), cart, 0)))
  expect([...used].filter((name) => name !== '' && !styles.has(name))).toEqual([])
})

it('draws in dots, within its size, and moves', () => {
  for (const unicode of [true, false]) {
    const before = shown(sampleEpisode(), cart, 0, { unicode })
    expect(before.length).toBeLessThanOrEqual(size.rows)
    for (const line of before) expect([...line].length).toBeLessThanOrEqual(size.columns)
    expect(before.join('')).toMatch(unicode ? /[\u2801-\u28ff]/ : /#/)
    expect(shown(sampleEpisode(), cart, 2, { unicode })).not.toEqual(before)
  }
})

it('applies what a picture nests: the pole is turned about the cart', () => {
  const list = displayList(episodeFrame(sampleEpisode(), cart, 1), styles)
  const [pole] = list.filter((drawn) => drawn.kind === 'path' && drawn.strokeWidth === 9)
  if (pole?.kind !== 'path') throw new Error('no pole')
  const [[x1, y1], [x2, y2]] = pole.points
  expect(Math.atan2(x2 - x1, y1 - y2)).toBeCloseTo(0.25, 3)
  expect(Math.hypot(x2 - x1, y2 - y1)).toBeCloseTo(104, 3)
})

it('draws a scene where a scenario draws itself', () => {
  const scene = {
    width: 4,
    height: 1,
    shapes: [
      { kind: 'rect' as const, x: 0, y: 0, width: 1, height: 1, color: 'blue' as const },
      { kind: 'text' as const, x: 4, y: 0.6, text: 'goal', align: 'end' as const },
    ],
  }
  const episode = { ...sampleEpisode({ scene }), last: { observation: [0, 0], texts: [], scene: [0, 1] } }
  const rows = terminalFrame(episode, cart, 2, { ...size, rows: 4 })
  expect(rows[0][0]).toMatchObject({ color: 'blue', text: expect.stringMatching(/^⣿+$/) })
  expect(
    rows
      .flat()
      .map(({ text }) => text)
      .join(''),
  ).toContain('goal')
})

const board: ScenarioView = {
  kind: 'grid',
  at: 0,
  shape: [2, 2, 2],
  channels: [
    { name: 'bricks', color: 'blue' },
    { name: 'ball', color: 'orange', mark: 'circle', glyph: 'o' },
  ],
}
const played = sampleEpisode({
  steps: [{ observation: [1, 0.2, 0, 0, 0, 0, 0, 1], texts: [], action: [0], reward: 0 }],
})

it('draws a board as squares, and as letters where there are no colors', () => {
  expect(shown(played, board, 0)).toEqual(['██░░', '· o '])
  expect(shown(played, board, 0, { color: false })).toEqual(['b b ', '· o '])
  expect(shown(played, board, 0, { columns: 3 })).toEqual(['█░', '·o'])
})

it('tells a transcript: the call with its arguments, what came of it, the reward', () => {
  const episode = sampleEpisode({
    observation: [
      { name: 'said', kind: 'text', size: 0, shape: [1] },
      { name: 'found', kind: 'box', size: 1, shape: [1] },
    ],
    action: [
      { name: 'tool', kind: 'discrete', size: 1, shape: [1], labels: ['refund'] },
      { name: 'refund.percent', kind: 'box', size: 1, shape: [1], labels: [] },
      { name: 'refund.reason', kind: 'discrete', size: 1, shape: [1], labels: ['late delivery'] },
    ],
    steps: [{ observation: [0], texts: ['Where is my order?'], action: [0, 50, 0], reward: -1 }],
    last: { observation: [1], texts: ['Where is my order?'] },
  })
  const lines = shown(episode, { kind: 'transcript', facts: ['order found'] }, 1)
  expect(lines[0]).toBe('  Where is my order?')
  expect(lines.slice(2)).toEqual(['→ refund(percent: 50, reason: "late delivery")  −1', '  order found: yes'])
})

it('shows what a list holds, by the names of its features, once it has changed', () => {
  const episode = sampleEpisode({
    observation: [{ name: 'orders', kind: 'box', size: 6, shape: [2, 3] }],
    steps: [{ observation: [0, 0, 0, 0, 0, 0], texts: [], action: [0], reward: 0 }],
    last: { observation: [1, 1, 0.5, 0, 0, 0], texts: [] },
  })
  const view: ScenarioView = { kind: 'transcript', lists: [{ name: 'orders', features: ['chair', 'price'] }] }
  expect(shown(episode, view, 1).slice(1)).toEqual(['→ left  0', '  orders[0]: chair price 0.5'])
})

it('shows the course of named numbers, with their units', () => {
  const view: ScenarioView = { kind: 'lines', series: [{ at: 1, label: 'speed', unit: 'm/s', low: 0, high: 0.5 }] }
  expect(shown(sampleEpisode(), view, 2)).toEqual([expect.stringMatching(/^speed {2}█▅▁ +0 m\/s$/)])
})
