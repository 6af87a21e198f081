import { type SampleEpisode, type SpaceDescription, type SpaceLeaf, spaceLeaves } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type TrialField, trialFields, trialObservation } from './trial-fields.ts'

const box = (...bounds: [number | null, number | null][]): SpaceDescription => ({
  type: 'box',
  shape: [bounds.length],
  low: bounds.map(([low]) => low),
  high: bounds.map(([, high]) => high),
})
const episodeOf = (observation: number[], texts: string[] = [], view: SampleEpisode['view'] = null): SampleEpisode => {
  const seen = { observation, texts }
  const steps = [{ ...seen, action: [0], reward: 1 }]
  return { format: 1, policy: 'random', view, observation: [], action: [], steps, last: seen, end: 'cut' }
}
/** The form as it is shown, with these fields typed over. */
const sent = (fields: TrialField[], typed: Record<string, string> = {}) => {
  const values = { ...Object.fromEntries(fields.map(({ name, value }) => [name, value])), ...typed }
  return { get: (name: string) => values[name] ?? '', all: () => [] }
}
const listKeyOf = (leaves: SpaceLeaf[], fields: TrialField[], typed: Record<string, string> = {}) =>
  trialObservation(leaves, fields, sent(fields, typed))

describe('fields of a trial', () => {
  it('are numbers with names and bounds, filled with the example', () => {
    const leaves = spaceLeaves(box([-4.8, 4.8], [null, null], [-0.418, 0.418]))
    const view = { kind: 'cart' as const, position: 0, angle: 2, track: { low: -5, high: 5 } }
    const fields = trialFields(leaves, episodeOf([0.012, -3, 0.42], [], view))
    expect(fields).toEqual([
      { name: 'observation-0-0', label: 'position', value: '0.012', kind: 'number', low: -4.8, high: 4.8 },
      { name: 'observation-0-1', label: 'observation[1]', value: '-3', kind: 'number', low: null, high: null },
      {
        name: 'observation-0-2',
        label: 'angle',
        value: '0.418',
        unit: 'rad',
        kind: 'number',
        low: -0.418,
        high: 0.418,
      },
    ])
    expect(listKeyOf(leaves, fields, { 'observation-0-1': ' 1e-3 ' })).toEqual([0.012, 0.001, 0.418])
  })

  it("have the names and units of the scenario's view", () => {
    const leaves = spaceLeaves(box([null, null], [null, null], [null, null]))
    const series = [{ at: 1, label: 'tank', unit: 'm³' }]
    const named = (view: SampleEpisode['view']) =>
      trialFields(leaves, episodeOf([0, 0, 0], [], view)).map(({ label, unit }) => [label, unit])
    expect(named({ kind: 'lines', labels: ['x'], series })).toEqual([
      ['x', undefined],
      ['tank', 'm³'],
      ['observation[2]', undefined],
    ])
    expect(named({ kind: 'links', zero: 'up', links: [{ cos: 0, sin: 1 }] })).toEqual([
      ['cosine of the rod', undefined],
      ['sine of the rod', undefined],
      ['observation[2]', undefined],
    ])
  })

  it("are lists of labels for choices, in the scenario's numbering, and text", () => {
    const leaves = spaceLeaves({
      type: 'dict',
      entries: [
        { name: 'mood', space: { type: 'discrete', n: 2, start: 5, labels: ['calm', '<b>cross</b>'] } },
        { name: 'inner', space: { type: 'dict', entries: [{ name: '__proto__', space: box([0, 1]) }] } },
        { name: 'said', space: { type: 'text', maxTokens: 9, vocabulary: 256 } },
        { name: 'dice', space: { type: 'multiDiscrete', nvec: [6, 300] } },
      ],
    })
    const fields = trialFields(leaves, episodeOf([1, 0.5, 3, 299], ['hello']))
    expect(fields.map(({ label, kind, value }) => [label, kind, value])).toEqual([
      ['mood', 'choice', '6'],
      ['inner.__proto__', 'number', '0.5'],
      ['said', 'text', 'hello'],
      ['dice[0]', 'choice', '3'],
      ['dice[1]', 'number', '299'],
    ])
    expect(fields[0].options).toEqual([
      { value: '5', label: 'calm' },
      { value: '6', label: '<b>cross</b>' },
    ])
    const request = JSON.stringify(listKeyOf(leaves, fields, { 'observation-2-0': 'bye' }))
    expect(request).toBe('{"mood":6,"inner":{"__proto__":[0.5]},"said":"bye","dice":[3,299]}')
  })

  it('are a single JSON field if there are many', () => {
    const leaves = spaceLeaves(box(...Array.from({ length: 25 }, (): [number, number] => [0, 1])))
    const [field, ...others] = trialFields(leaves, episodeOf([0.5]))
    expect([field.kind, others]).toEqual(['json', []])
    expect(JSON.parse(field.value)).toEqual([0.5, ...Array.from({ length: 24 }, () => 0)])
    expect(listKeyOf(leaves, [field], { observation: '[[1]]' })).toEqual([[1]])
    const fields = [{ field: 'observation', message: expect.stringContaining('invalid JSON') }]
    expect(() => listKeyOf(leaves, [field], { observation: '[1,' })).toThrow(
      expect.objectContaining({ code: 'request_invalid', data: { fields } }),
    )
  })

  it.each(['', 'many', 'NaN', '1e999', '1,5'])('report %j as an invalid number', (text) => {
    const leaves = spaceLeaves(box([0, 1], [0, 1]))
    const fields = trialFields(leaves, null)
    expect(() => listKeyOf(leaves, fields, { 'observation-0-1': text })).toThrow(
      expect.objectContaining({ data: { fields: [{ field: 'observation-0-1', message: 'enter a number' }] } }),
    )
  })

  it('submitted unchanged give the example for any space', () => {
    const leafSpace = fc.oneof(
      fc
        .integer({ min: 1, max: 30 })
        .map((size) => box(...Array.from({ length: size }, () => [null, null] as [null, null]))),
      fc.record({
        type: fc.constant('discrete' as const),
        n: fc.integer({ min: 1, max: 400 }),
        start: fc.integer({ min: -3, max: 3 }),
      }),
      fc
        .array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 })
        .map((nvec) => ({ type: 'multiDiscrete' as const, nvec })),
      fc.constant({ type: 'text' as const, maxTokens: 4, vocabulary: 9 }),
    )
    const { space } = fc.letrec<{ space: SpaceDescription }>((tie) => ({
      space: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leafSpace,
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }).chain((names) =>
          fc.tuple(...names.map(() => tie('space'))).map((spaces) => ({
            type: 'dict' as const,
            entries: names.map((name, index) => ({ name, space: spaces[index] })),
          })),
        ),
      ),
    }))
    fc.assert(
      fc.property(space, (given) => {
        const leaves = spaceLeaves(given)
        const fields = trialFields(leaves, null)
        expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length)
        expect(JSON.stringify(listKeyOf(leaves, fields))).toBe(JSON.stringify(zerosOf(given)))
      }),
    )
  })
})

/** What an observation of nothings is, as a scenario would give it. */
function zerosOf(space: SpaceDescription): unknown {
  if (space.type === 'dict')
    return Object.fromEntries(space.entries.map(({ name, space: inner }) => [name, zerosOf(inner)]))
  if (space.type === 'text') return ''
  if (space.type === 'discrete') return space.start
  if (space.type === 'list') return []
  return (space.type === 'box' ? space.low : space.nvec).map(() => 0)
}
