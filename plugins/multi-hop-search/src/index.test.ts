import { createRng } from '@agentgym/scenario'
import { expect, test } from 'vitest'
import { meansOf } from '../../baseline-players.ts'
import { sharedTokens } from '../../shared-tokens.ts'
import {
  type Corpus,
  drawCorpus,
  type Entity,
  entityOf,
  RESULTS,
  read,
  relations,
  relationsOf,
  search,
} from './corpus.ts'
import scenario, { VOCABULARY } from './index.ts'
import { byYear, type Call, type Desk, nextCall, picks } from './procedure.ts'
import { drawQuestion, type Question } from './questions.ts'

const tools = ['search', 'refine', 'open', 'look_up', 'answer', 'answer_by_year', 'give_up']

/** A question that is worked on: `call` takes arguments as numbers, `oracle` makes the right call. */
async function ask(index: number) {
  const context = { rng: createRng(index), task: { split: 'eval', index } } as const
  const episode = await scenario.reset(context)
  const play = async (action: unknown) => {
    scenario.observe(episode)
    return scenario.step(episode, action as never, context)
  }
  return {
    episode,
    desk: episode.state,
    call: (tool: string, args: Record<string, number> = {}) => play({ tool: tools.indexOf(tool), [tool]: args }),
    oracle: () => {
      scenario.observe(episode)
      return play(scenario.oracle?.(episode, context))
    },
    /** Which slot of the results shows the article. */
    slotOf: (entity: Entity) => scenario.observe(episode).results.findIndex(({ id }) => id === entity.id),
  }
}

/** The first evaluation question that is like this, played by the oracle up to such a moment. */
async function moment(matches: (desk: Desk) => boolean, at: (desk: Desk, next: Call) => boolean) {
  for (let index = 0; index < 1_000; index += 1) {
    const found = await ask(index)
    if (!matches(found.desk)) continue
    for (let ended = false; !ended; ended = (await found.oracle()).terminated) {
      if (at(found.desk, nextCall(found.desk))) return found
    }
  }
  throw new Error('no such question among 1,000')
}

const isBridge = ({ question }: Desk) => question.named.length === 1 && question.answer !== null
const first = ({ corpus, question }: Desk) => entityOf(corpus, question.named[0])

/** The answer, found again from the facts alone. */
function answerOf(corpus: Corpus, { named, path, text }: Question): string | null {
  const ends = named.map((id) => {
    let entity: Entity = entityOf(corpus, id)
    for (const relation of path) {
      const said = read(entity, relation)
      if (said === null) return null
      if (typeof said === 'string') entity = entityOf(corpus, said)
    }
    return entity
  })
  const [one, two] = ends
  if (one === null || two === undefined || two === null) return one?.id ?? null
  return one.year < two.year === /\b(first|older)\b/.test(text) ? one.id : two.id
}

test('the procedure answers every question; players that have learned nothing answer hardly any', () => {
  expect(meansOf(scenario, 'oracle', 192)).toMatchObject({ solved: 1, harmless: 1, tool_reliability: 1 })
  expect(meansOf(scenario, 'random', 192).solved).toBeLessThan(0.1)
  expect(meansOf(scenario, 'first', 64).solved).toBe(0)
})

test('the answer follows from the facts, and nothing else in the question has the name of its subjects', () => {
  const kinds = new Set<string>()
  for (let seed = 0; seed < 1_000; seed += 1) {
    const rng = createRng(seed)
    const corpus = drawCorpus(rng)
    const question = drawQuestion(corpus, rng)
    expect(answerOf(corpus, question), question.text).toBe(question.answer)
    for (const id of question.named) {
      const { name, kind } = entityOf(corpus, id)
      expect(question.text).toContain(name)
      expect([...corpus.entities.values()].filter((each) => each.name === name && each.kind === kind)).toHaveLength(1)
    }
    expect(question.text).not.toMatch(/[{}]/)
    kinds.add(`${question.named.length} ${question.path.length} ${question.answer === null}`)
  }
  expect([...kinds].sort()).toEqual(['1 2 false', '1 2 true', '1 3 false', '1 3 true', '2 1 false', '2 2 false'])
})

test('a search for a name may miss; a refined one finds the article; the same query has the same results', () => {
  let missed = 0
  for (let seed = 0; seed < 50; seed += 1) {
    const corpus = drawCorpus(createRng(seed))
    for (const entity of corpus.entities.values()) {
      const page = search(corpus, entity, null, false)
      expect(page).toHaveLength(RESULTS)
      expect(search(corpus, entity, null, false)).toEqual(page)
      expect(page.includes(entity)).toBe(!corpus.buried.has(entity.id))
      expect(search(corpus, entity, null, true)).toContain(entity)
      missed += page.includes(entity) ? 0 : 1
    }
  }
  expect(missed).toBeGreaterThan(50)
})

test('a look-up notes what the article says, and another one in the same article replaces it', async () => {
  const { desk, oracle, call } = await moment(
    (each) => isBridge(each) && each.question.path[0] === 'founder',
    (_, next) => next.tool === 'look_up',
  )
  const { founder, director } = first(desk).links
  await oracle()
  expect(desk.trails[0].map(({ entity }) => entity.id)).toEqual([first(desk).id, founder])
  expect(nextCall(desk)).toEqual({ tool: 'search', arguments: { note: 'a1' } })
  await call('look_up', { relation: 1 })
  expect(desk.trails[0].map(({ entity }) => entity.id)).toEqual([first(desk).id, director ?? founder])
})

test('an article of a namesake leads astray: what it says is noted, and is not what the question needs', async () => {
  const namesake = ({ results, question, corpus, searched }: Desk) =>
    results.find(
      ({ id, name, kind }) =>
        searched?.depth === 1 &&
        kind === 'person' &&
        id !== first({ corpus, question } as Desk).links.founder &&
        name === entityOf(corpus, first({ corpus, question } as Desk).links.founder ?? '').name,
    )
  const { desk, call, slotOf } = await moment(
    (each) => isBridge(each) && each.question.path[0] === 'founder',
    (each, next) => next.tool === 'open' && namesake(each) !== undefined,
  )
  const other = namesake(desk) as Entity
  expect((await call('open', { result: slotOf(other) })).reward).toBeLessThan(0)
  expect(desk.article?.entity).toBe(other)
  // It does not name the company that led to it.
  expect(other.names.has(first(desk).id)).toBe(false)
  expect(nextCall(desk)).toMatchObject({ tool: 'open' })
})

test('a page is forgotten with the subject that it was searched for', async () => {
  const { desk, call } = await moment(
    (each) => isBridge(each) && each.question.path.length === 3,
    ({ trails, searched, article }) => trails[0].length === 4 && searched?.depth === 2 && article !== null,
  )
  await call('search', { note: 3 })
  desk.article = { entity: first(desk), of: { trail: 0, depth: 0 }, seen: new Set(), lookup: null }
  const other = relationsOf(first(desk)).findIndex((relation) => relation !== desk.question.path[0])
  desk.spareCalls = 3
  expect(await call('look_up', { relation: relations.indexOf(relationsOf(first(desk))[other]) })).toMatchObject({
    terminated: false,
  })
  expect(desk.trails[0]).toHaveLength(2)
  expect(desk).toMatchObject({ results: [], searched: null })
})

test('a comparison is answered by the order of two noted years, once both are known', async () => {
  const { desk, call, episode } = await moment(
    ({ question }) => question.named.length === 2,
    (_, next) => next.tool === 'answer_by_year',
  )
  const years = desk.question.named.map(
    (_, trail) => desk.trails[trail][desk.question.path.length - 1].year?.value ?? 0,
  )
  const asked = /\b(first|older)\b/.test(desk.question.text) ? 0 : 1
  expect(nextCall(desk)).toEqual({ tool: 'answer_by_year', arguments: { pick: picks[asked] } })
  expect(byYear(desk)?.map(({ year }) => year?.value)).toEqual(years.toSorted((a, b) => a - b))
  await call('answer_by_year', { pick: 1 - asked })
  expect(desk.ended).toBe('wrong')
  expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0, harmless: 0 })
})

test('an agent can tell all words apart', () => {
  const texts = Array.from({ length: 1_000 }, (_, seed) => {
    const rng = createRng(seed)
    return drawQuestion(drawCorpus(rng), rng).text
  })
  expect(sharedTokens(texts, VOCABULARY)).toEqual([])
})

test('a wrong answer costs, and ends the search', async () => {
  const { desk, call, episode } = await moment(isBridge, (each) => each.trails[0].length === 2)
  const { reward, terminated } = await call('answer', { note: 1 })
  expect(reward).toBeLessThan(-0.3)
  expect(terminated).toBe(true)
  expect(desk.ended).toBe('wrong')
  expect(scenario.metrics?.(episode)).toMatchObject({ solved: 0, harmless: 0 })
})

test('where an article says that it is not known, giving up is right; before, it cannot be called', async () => {
  const { desk, call, episode } = await moment(
    ({ question }) => question.answer === null,
    (_, next) => next.tool === 'give_up',
  )
  expect(await call('give_up')).toMatchObject({ terminated: true })
  expect(desk.ended).toBe('gave up rightly')
  expect(scenario.metrics?.(episode)).toMatchObject({ solved: 1, gave_up: 1 })
  const { episode: fresh } = await ask(1)
  scenario.observe(fresh)
  expect(scenario.actionMask?.(fresh)).toMatchObject({ tool: [true, false, false, false, false, false, false] })
})

test('a call that brings nothing forward ends the search once none is to spare', async () => {
  const { desk, call } = await ask(7)
  await call('search', { note: 0 })
  desk.spareCalls = 0
  const useless = nextCall(desk).tool === 'refine' ? ['open', { result: 0 }] : ['refine']
  expect(await call(...(useless as ['refine']))).toMatchObject({ terminated: true })
})

test('every moment can be drawn, and no call is wasted by a player who makes no mistake', async () => {
  for (let index = 0; index < 30; index += 1) {
    const { episode, desk, oracle } = await ask(index)
    for (let ended = false; !ended; ended = (await oracle()).terminated) {
      const shapes = scenario.render?.(episode)?.shapes ?? []
      for (const shape of shapes) if (shape.kind === 'text') expect(shape.text).not.toMatch(/undefined|^$/)
      expect(JSON.stringify(shapes)).toContain(first(desk).name)
    }
    expect(desk.spareCalls).toBe(3)
  }
})

test('no question is in both splits', async () => {
  const seen = async (split: 'train' | 'eval') => {
    const all: string[] = []
    for (let index = 0; index < 1_000; index += 1) {
      const { state } = await scenario.reset({ rng: createRng(1), task: { split, index } })
      all.push(
        JSON.stringify([state.question, [...state.corpus.entities.values()].map(({ name, year }) => [name, year])]),
      )
    }
    return all
  }
  const trained = new Set(await seen('train'))
  const held = await seen('eval')
  expect(new Set(held).size).toBe(held.length)
  expect(held.filter((each) => trained.has(each))).toEqual([])
})
