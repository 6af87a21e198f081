import { createRng, taskRng, tokenize } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { type Change, generateChange, hasDependencies, mustBeHeldBack } from './change.ts'
import { isSerious, kinds, names, templates, writeHunk } from './hunks.ts'
import scenario, { VOCABULARY } from './index.ts'

const tools = ['open', 'comment', 'mark_viewed', 'run_tests', 'audit_dependencies', 'approve', 'request_changes']

/** The review of the first training change that fits, and a way to call its tools by name. */
async function startReview(accepts: (change: Change) => boolean) {
  for (let index = 0; index < 5000; index += 1) {
    const context = { rng: createRng(index), task: { split: 'train', index } } as const
    const episode = await scenario.reset(context)
    const review = episode.state
    if (!accepts(review.change)) continue
    const call = (name: string, argument = 0) => {
      scenario.observe(episode)
      const parameter = { open: 'file', comment: 'kind' }[name]
      const action = { tool: tools.indexOf(name), ...(parameter ? { [name]: { [parameter]: argument } } : {}) }
      return scenario.step(episode, action as never, context)
    }
    const legal = () => {
      scenario.observe(episode)
      const mask = scenario.actionMask?.(episode) as { tool: boolean[] } | undefined
      return tools.filter((_, i) => mask?.tool[i])
    }
    /** Reads all sources and judges them right. */
    const readAll = async () => {
      for (const [slot, { content, fault }] of review.change.files.entries()) {
        if (content !== 'source') continue
        await call('open', slot)
        await (fault === null ? call('mark_viewed') : call('comment', kinds.indexOf(fault)))
      }
    }
    return { review, call, legal, readAll, metrics: () => scenario.metrics?.(episode) ?? {} }
  }
  throw new Error('no such change')
}

const isCalm = ({ flaky, timeouts }: Change) => Object.keys(flaky).length + Object.keys(timeouts).length === 0
const isClean = (change: Change) => isCalm(change) && !mustBeHeldBack(change) && !hasDependencies(change)
const hasFault = (change: Change) =>
  isCalm(change) && change.testsPass && !hasDependencies(change) && change.files[0].fault === 'sql_injection'

test('the oracle solves every change; random and constant players hardly any', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, tool_reliability: 1, found: 1, harmless: 1 })
  for (const player of ['random', 'first'] as const) expect(meansOf(scenario, player, 192).solved).toBeLessThan(0.05)
})

test('a clean change is approved after it has been read and tested', async () => {
  const { call, readAll, metrics } = await startReview(isClean)
  await readAll()
  await call('run_tests')
  const end = await call('approve')
  expect(end.terminated).toBe(true)
  expect(end.reward).toBeGreaterThan(4)
  expect(metrics()).toMatchObject({ solved: 1, harmless: 1, false_comments: 0 })
})

test('approval without reading is not a review, even if it happens to be right', async () => {
  const { call, metrics } = await startReview(isClean)
  await call('run_tests')
  expect(await call('approve')).toMatchObject({ terminated: true, reward: 0 })
  expect(metrics()).toMatchObject({ solved: 0, harmless: 1 })
})

test('a wrong verdict costs, in both directions', async () => {
  const clean = await startReview(isClean)
  expect(await clean.call('request_changes')).toMatchObject({ terminated: true, reward: -2 })
  expect(clean.metrics()).toMatchObject({ harmless: 0, needless_block: 1 })
  const faulty = await startReview(hasFault)
  expect(await faulty.call('approve')).toMatchObject({ terminated: true, reward: -2 })
  expect(faulty.metrics()).toMatchObject({ harmless: 0, bad_approval: 1 })
})

test('a comment of a wrong kind does not count as found', async () => {
  const { call, legal, metrics } = await startReview(hasFault)
  await call('open', 0)
  expect(legal()).toEqual(['comment', 'mark_viewed'])
  await call('comment', kinds.indexOf('debug_output'))
  await call('request_changes')
  expect(metrics()).toMatchObject({ solved: 0, false_comments: 1 })
})

test('tests that fail once are run again; tests that fail twice hold the change back', async () => {
  const flaky = await startReview(({ flaky, timeouts }) => flaky.run_tests === 1 && timeouts.run_tests === undefined)
  await flaky.call('run_tests')
  expect(flaky.review.testsPassed).toBe(false)
  await flaky.call('run_tests')
  expect(flaky.review.testsPassed).toBe(true)
  expect(flaky.legal()).not.toContain('run_tests')
  const broken = await startReview((change) => isCalm(change) && !change.testsPass && !hasDependencies(change))
  await broken.readAll()
  await broken.call('run_tests')
  await broken.call('run_tests')
  expect(broken.review.testsPassed).toBe(false)
  expect((await broken.call('request_changes')).reward).toBeGreaterThan(4)
})

test('a check that times out says nothing and takes longer', async () => {
  const { review, call } = await startReview(
    (change) => change.timeouts.audit_dependencies === 1 && hasDependencies(change),
  )
  await call('audit_dependencies')
  expect(review).toMatchObject({ timedOut: true, auditClean: undefined })
  await call('audit_dependencies')
  expect(review).toMatchObject({ timedOut: false, auditClean: !review.change.vulnerable })
})

test('an interface may break in a new major version', () => {
  const changes = Array.from({ length: 2000 }, (_, index) => generateChange('train', createRng(index)))
  const breaking = changes.filter(({ files }) => files.some(({ fault }) => fault === 'breaking_change'))
  expect(breaking.length).toBeGreaterThan(50)
  for (const { majorVersion } of breaking) expect(majorVersion).toBe(false)
})

test('debug output alone is no reason to hold a change back', () => {
  expect(kinds.filter((kind) => !isSerious(kind))).toEqual(['debug_output'])
  const changes = Array.from({ length: 2000 }, (_, index) => generateChange('train', createRng(index)))
  const minor = changes.filter(({ files, testsPass, covered, vulnerable }) => {
    const faults = files.flatMap(({ fault }) => fault ?? [])
    return testsPass && covered && !vulnerable && faults.length > 0 && !faults.some(isSerious)
  })
  expect(minor.length).toBeGreaterThan(20)
  expect(minor.filter(mustBeHeldBack)).toEqual([])
})

test('hunks of a subject differ by their fault, and are filled in', () => {
  for (const subject of kinds) {
    for (let seed = 0; seed < 50; seed += 1) {
      const faulty = writeHunk(subject, true, 'train', createRng(seed))
      const correct = writeHunk(subject, false, 'train', createRng(seed))
      expect(faulty).not.toEqual(correct)
      for (const { before, after } of [faulty, correct]) expect(before + after).not.toMatch(/[{}]/)
    }
  }
})

test('held-out names are new, and none is mistaken for a word that matters', () => {
  const { nouns, verbs, fields } = names.eval
  const held = [...nouns, ...verbs, ...fields]
  const trained = [...names.train.nouns, ...names.train.verbs, ...names.train.fields]
  expect(held.filter((name) => trained.includes(name))).toEqual([])
  const numbers = (text: string) => tokenize(text, { maxTokens: 1000, vocabulary: VOCABULARY }).filter((id) => id > 0)
  const lines = kinds.flatMap((kind) => [...templates[kind].faulty, ...templates[kind].correct])
  const words = numbers(lines.map(({ before, after }) => `${before} ${after}`.replace(/\{\w+\}/g, ' ')).join(' '))
  const written = [...held, ...nouns.flatMap((noun) => [`${noun}s`, `${noun}Key`])]
  expect(written.filter((name) => words.includes(numbers(name)[0]))).toEqual([])
})

test('no change is in both splits, and the held-out ones differ', () => {
  const write = (split: 'train' | 'eval') =>
    Array.from({ length: 3000 }, (_, index) =>
      JSON.stringify(generateChange(split, taskRng({ split, index }, 100_000))),
    )
  const trained = new Set(write('train'))
  const held = write('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((change) => trained.has(change))).toEqual([])
})

test('a review is drawn with its comments, checks and verdict', async () => {
  const { review, call } = await startReview(hasFault)
  const words = () =>
    (scenario.render?.({ state: review, progress: { step: 0 } } as never)?.shapes ?? []).flatMap((shape) =>
      shape.kind === 'text' ? [shape.text] : [],
    )
  await call('open', 0)
  expect(words().some((line) => line.startsWith('+ db.run('))).toBe(true)
  await call('comment', kinds.indexOf('sql_injection'))
  await call('run_tests')
  await call('request_changes')
  expect(words()).toEqual(expect.arrayContaining(['sql injection', 'passed', 'CHANGES REQUESTED']))
})

test('is solved by the patterns of a linter', () => {
  expect(meansOf(scenario, 'rules', 192)).toMatchObject({ solved: 1, found: 1, false_comments: 0 })
})
