// @module-tag full
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type SampleEpisode, sampleEpisodeSchema } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { checkScenario } from './check-scenario.ts'
import { countingScenario, validPackage, withFolder } from './testing/scenario-folder.ts'

const limits = { loadMs: 5_000, crossingMs: 5_000, graceMs: 1_000 }

async function sampleOf(entry: string, agentgym: object = {}) {
  const samples: SampleEpisode[] = []
  const manifest = { ...validPackage, agentgym: { ...validPackage.agentgym, ...agentgym } }
  const files = { 'package.json': manifest, 'src/index.ts': entry }
  const onSample = (episode: SampleEpisode) => void samples.push(episode)
  const report = await withFolder(files, (folder) => checkScenario(folder, { limits, onSample }))
  expect(samples.length).toBeLessThanOrEqual(1)
  for (const sample of samples) expect(sampleEpisodeSchema.parse(sample)).toEqual(sample)
  return { report, sample: samples.at(0) }
}

async function mustSample(entry: string, agentgym: object = {}): Promise<SampleEpisode> {
  const { report, sample } = await sampleOf(entry, agentgym)
  if (sample === undefined) throw new Error(JSON.stringify(report))
  return sample
}

/** A scenario with that observation space; `observe` says what it shows. */
const showing = (observation: string, observe: string, more = '') => `
import { box, defineScenario, dict, discrete, text } from '@agentgym/scenario'
${more}
export default defineScenario({
  observation: ${observation},
  action: discrete({ n: 3, labels: ['left', 'stay', 'right'] }),
  maxSteps: 1000,
  reset: ({ rng }) => ({ x: rng(), step: 0 }),
  step(state: { x: number; step: number }, action: number, { rng }) {
    state.step += 1
    state.x = rng()
    return { reward: action, terminated: false }
  },
  observe: ({ x, step }: { x: number; step: number }) => (${observe}),
})
`

describe.concurrent('the sample episode of a check', () => {
  test('is one episode of legal random actions, as it went', async () => {
    const sample = await mustSample(countingScenario)
    expect(sample).toMatchObject({ format: 1, policy: 'random', view: null })
    expect(sample.observation).toEqual([{ name: '', kind: 'box', size: 2, shape: [2] }])
    expect(sample.action).toEqual([{ name: '', kind: 'discrete', size: 1, shape: [1], labels: [] }])
    // It counts its own actions, so every observation can be told from what was done before.
    let count = 0
    for (const { observation, action, reward } of sample.steps) {
      expect(observation[0]).toBe(count)
      expect(reward).toBe(action[0])
      count += action[0]
    }
    expect(sample.last.observation[0]).toBe(count)
    expect(sample.end).toBe(count === 10 ? 'terminated' : 'truncated')
    expect(sample.steps[0].observation[1]).toBeCloseTo(sample.last.observation[1], 4)
  })

  test('shows texts as they read, beside the numbers', async () => {
    const observation = 'dict({ said: text({ maxTokens: 3 }), seen: box({ shape: [2] }) })'
    const observe = "{ said: 'At step ' + step + ': “hello”\\u0000\\n<b>', seen: [x, step] }"
    const sample = await mustSample(showing(observation, observe))
    expect(sample.observation.map(({ name, kind, size }) => [name, kind, size])).toEqual([
      ['said', 'text', 0],
      ['seen', 'box', 2],
    ])
    expect(sample.action[0].labels).toEqual(['left', 'stay', 'right'])
    expect(sample.steps[7].texts).toEqual(['At step 7: “hello” \n<b>'])
    expect(sample.steps[7].observation[1]).toBe(7)
    expect(sample.steps).toHaveLength(200)
    expect(sample.end).toBe('cut')
    expect(sample.last.texts).toEqual(['At step 200: “hello” \n<b>'])
  })

  test('keeps the first numbers of an image, and as many steps as fit', async () => {
    const sample = await mustSample(showing('box({ shape: [3, 64, 64] })', 'new Float32Array(12288).fill(-x / 1e6)'))
    expect(sample.observation[0]).toMatchObject({ size: 12_288, shape: [3, 64, 64] })
    expect(sample.steps[0].observation).toHaveLength(256)
    expect(sample.end).toBe('cut')
    expect(sample.steps.length).toBeGreaterThan(10)
    expect(sample.steps.length).toBeLessThan(200)
    // The next step would not have fitted.
    const bytes = JSON.stringify(sample).length
    expect(bytes).toBeLessThanOrEqual(65_536)
    expect(bytes + 2 * JSON.stringify(sample.steps[0]).length).toBeGreaterThan(65_536)
  })

  test('is left out where the spaces are too many to list', async () => {
    const observation = `dict(Object.fromEntries(Array.from({ length: 65 }, (_, i) => ['k' + i, box({ shape: [1] })])))`
    const observe = `Object.fromEntries(Array.from({ length: 65 }, (_, i) => ['k' + i, [x]])) as never`
    const { report, sample } = await sampleOf(showing(observation, observe))
    expect(report.ok).toBe(true)
    expect(sample).toBeUndefined()
  })

  test.for([
    ['String.prototype.toJSON', 'Object.assign(String.prototype, { toJSON: () => "<script>".repeat(1e6) })'],
    ['Array.prototype.toJSON', 'Object.assign(Array.prototype, { toJSON() { throw this } })'],
    ['slice and toWellFormed', 'String.prototype.slice = String.prototype.toWellFormed = () => "\\ud800"'],
  ])('holds what was observed, whatever the author makes of %s', async ([, tampering]) => {
    const { sample } = await sampleOf(showing('text({ maxTokens: 3 })', "'step ' + step", tampering))
    // A scenario that breaks what describes it has no sample; one that has, has the true one.
    if (sample !== undefined) expect(sample.steps[3].texts).toEqual(['step 3'])
  })

  test('is drawn as the manifest says; a view that does not fit fails, and says why', async () => {
    const view = { kind: 'lines', labels: ['count', 'luck'] }
    expect((await mustSample(countingScenario, { view })).view).toEqual(view)
    const { report } = await sampleOf(countingScenario, { view: { kind: 'lines', labels: ['a', 'b', 'c'] } })
    expect(report.checks.find(({ ok }) => !ok)).toMatchObject({
      id: 'spaces',
      message: expect.stringMatching(/names column 2, and the observation has 2 numbers.*Mend it/),
    })
    const board = showing('box({ shape: [2, 17, 17] })', 'new Float32Array(578).fill(step % 2)')
    const grid = (shape: number[]) => ({ kind: 'grid', at: 0, shape, channels: ['wall', 'agent'] })
    const large = await mustSample(board, { view: grid([2, 17, 17]) })
    expect(large.steps[1].observation).toEqual(Array.from({ length: 578 }, () => 1))
    const larger = await sampleOf(board, { view: grid([2, 17, 19]) })
    expect(larger.report.checks.find(({ ok }) => !ok)?.message).toMatch(
      /column 645, and the observation has 578 numbers/,
    )
    const unknown = await sampleOf(countingScenario, { view: { kind: 'hologram' } })
    expect(unknown.report.checks.find(({ ok }) => !ok)).toMatchObject({ id: 'manifest' })
  })
})

const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))
test.each(['acrobot', 'cart-pole', 'customer-support', 'grid-maze', 'mountain-car', 'pendulum'])(
  '%s has a sample with its own view',
  async (name) => {
    const { agentgym } = JSON.parse(readFileSync(`${plugins}${name}/package.json`, 'utf8'))
    let sample: SampleEpisode | undefined
    const report = await checkScenario(`${plugins}${name}`, {
      onSample: (episode) => {
        sample = episode
      },
    })
    expect(report.ok).toBe(true)
    expect(sample?.view).toEqual(agentgym.view)
    expect(sample?.view?.kind).toBeTypeOf('string')
  },
)
