/**
 * Answer a question that no single article answers: read in its words what has to be looked up, search, pick the right article
 * among others of the same name, look the next subject up in it, and go on from there. A search may miss, an article may not
 * know, and a wrong answer is worse than none.
 *
 * After Yang et al. (2018), "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering".
 */
import {
  answer,
  box,
  choice,
  defineToolScenario,
  dict,
  list,
  oneHot,
  pointer,
  taskRng,
  text,
  tool,
} from '@agentgym/scenario'
import {
  drawCorpus,
  type Entity,
  entityOf,
  type Kind,
  kinds,
  RESULTS,
  type Relation,
  read,
  relations,
  relationsOf,
  search,
} from './corpus.ts'
import { drawDesk } from './draw-desk.ts'
import {
  byYear,
  type Call,
  DEPTHS,
  type Desk,
  isSupported,
  type Noted,
  newNote,
  nextCall,
  nextOnTrail,
  noteAt,
  notesOf,
  type Place,
  picks,
  placeId,
  placeOf,
  places,
  rightTrails,
  sourceOf,
} from './procedure.ts'
import { drawQuestion } from './questions.ts'

const MAX_CALLS = 24
/** With so many tokens, no two words of the questions have the same one. */
export const VOCABULARY = 3744
/** Calls that bring nothing forward: so many are borne, and the next one ends the search. */
const SPARE_CALLS = 3
const TRAIN_QUESTIONS = 100_000
const HELD_OUT_QUESTIONS = 1_000_000_000
/** Subjects whose articles say something. */
const articleKinds: readonly Kind[] = ['company', 'book', 'person', 'city']
const NOTE_FEATURES = kinds.length + 5

export default defineToolScenario({
  observation: dict({
    question: text({ maxTokens: 32, vocabulary: VOCABULARY }),
    /** The open article: kind, whether it names the subject that led to it, the last look-up in it and what that brought. */
    article: box({ shape: [articleKinds.length + 2 + relations.length + 3] }),
    /** Spare calls left, whether there is a second subject, whether the search was refined. */
    progress: box({ shape: [3] }),
    /** Unread results of the same name, by kind; those that name the subject that led to the search. */
    facets: box({ shape: [articleKinds.length + 1] }),
    /** Found, kind, searched before, on the page of results, open, year known. */
    notes: list({ slots: places.length, features: NOTE_FEATURES }),
    /** Same name, kind, excerpt names the subject that led to it, opened before. */
    results: list({ slots: RESULTS, features: articleKinds.length + 3 }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_QUESTIONS, eval: HELD_OUT_QUESTIONS },
  rewards: { right: 0.25, wrong: -0.05, tokenSaving: 0.5, timeSaving: 0.5 },
  /** A person with a search engine. */
  baselines: { tokens: 4_000, seconds: 300 },

  start({ task }): Desk {
    const rng = taskRng(task, TRAIN_QUESTIONS)
    const corpus = drawCorpus(rng)
    const question = drawQuestion(corpus, rng)
    const due = rightTrails(corpus, question)
    return {
      corpus,
      question,
      trails: question.named.map((id) => [newNote(entityOf(corpus, id))]),
      due,
      results: [],
      searched: null,
      refined: false,
      opened: new Set(),
      article: null,
      unknown: { any: false, needed: false },
      paid: new Set(),
      spareCalls: SPARE_CALLS,
      ended: null,
      message: '',
    }
  },

  tools: {
    search: tool({
      description: 'Search for the name of a subject. The page may lack the right article',
      cost: { tokens: 80, seconds: 2 },
      parameters: { note: pointer('notes') },
      // The same search again brings the same page, so it waits until all of that has been read.
      allowed: (desk: Desk) => ({
        note: noteIds(desk, ({ place }) => !isAt(desk.searched, place) || desk.results.length === desk.opened.size),
      }),
      run(desk: Desk, { note }) {
        const right = isDue(desk, { tool: 'search', arguments: { note } })
        return showPage(desk, placeOf(note), false, right)
      },
    }),
    refine: {
      description: 'Search once more with the words that led to the name: slower, and finds the right article',
      cost: { tokens: 120, seconds: 4 },
      run(desk) {
        if (desk.searched === null) return {}
        return showPage(desk, desk.searched, true, isDue(desk, { tool: 'refine' }))
      },
    },
    open: tool({
      description: 'Open an article of the results',
      cost: { tokens: 200, seconds: 2 },
      parameters: { result: pointer('results') },
      allowed: ({ results, opened }: Desk) => ({
        result: results.filter(({ id }) => !opened.has(id)).map(({ id }) => id),
      }),
      run(desk: Desk, { result }) {
        const right = isDue(desk, { tool: 'open', arguments: { result } })
        desk.opened.add(result)
        const entity = entityOf(desk.corpus, result)
        if (desk.searched !== null) desk.article = { entity, of: desk.searched, seen: new Set(), lookup: null }
        return end(desk, right, `Opened: ${entity.name} (${entity.kind})`)
      },
    }),
    look_up: tool({
      description: 'Find in the open article what it says about a relation, and note it',
      cost: { tokens: 60, seconds: 1 },
      parameters: { relation: choice(relations) },
      allowed: (desk: Desk) => ({ relation: unseen(desk) }),
      run: lookUp,
    }),
    answer: tool({
      description: 'Answer with a subject that was found. Cannot be undone',
      cost: { tokens: 30, seconds: 1 },
      parameters: { note: pointer('notes') },
      allowed: (desk: Desk) => ({ note: noteIds(desk, ({ place }) => place.depth > 0) }),
      run(desk: Desk, { note }) {
        return answerWith(desk, noteAt(desk, placeOf(note))?.entity)
      },
    }),
    answer_by_year: tool({
      description: 'Answer with the subject of the earlier or the later year that was noted. Cannot be undone',
      cost: { tokens: 30, seconds: 1 },
      parameters: { pick: choice(picks) },
      run(desk: Desk, { pick }) {
        const [earlier, later] = byYear(desk) ?? []
        return answerWith(desk, (pick === 'earlier' ? earlier : later)?.entity)
      },
    }),
    give_up: tool({
      description: 'Report that the question cannot be answered',
      cost: { tokens: 20, seconds: 1 },
      run(desk: Desk) {
        desk.ended = desk.unknown.needed ? 'gave up rightly' : 'gave up'
        return end(desk, desk.unknown.needed, 'Gave up')
      },
    }),
  },

  observe(desk) {
    const { article, question, results } = desk
    const source = article === null ? null : sourceOf(desk, article.of)
    return {
      question: question.text,
      article: [
        article === null ? 0 : 1,
        ...oneHot<Kind>(articleKinds, article?.entity.kind),
        answer(source === null ? undefined : article?.entity.names.has(source.id)),
        ...oneHot(relations, article?.lookup?.relation),
        ...oneHot<'found' | 'unknown'>(['found', 'unknown'], article?.lookup?.said),
        desk.unknown.any ? 1 : 0,
      ],
      progress: [desk.spareCalls / SPARE_CALLS, question.named.length - 1, desk.refined ? 1 : 0],
      facets: facetsOf(desk),
      notes: places.map((place) => ({ id: placeId(place), features: noteFeatures(desk, place) })),
      results: results.map((entity) => ({ id: entity.id, features: resultFeatures(desk, entity) })),
    }
  },

  available(desk) {
    const { results, opened, searched, refined, unknown, trails } = desk
    return [
      'search',
      ...(searched !== null && !refined ? (['refine'] as const) : []),
      ...(results.length > opened.size ? (['open'] as const) : []),
      ...(unseen(desk).length > 0 ? (['look_up'] as const) : []),
      ...(unknown.any ? (['give_up'] as const) : []),
      ...(trails.length === 1 && trails[0].length > 1 ? (['answer'] as const) : []),
      ...(byYear(desk) === null ? [] : (['answer_by_year'] as const)),
    ]
  },

  oracle: nextCall,

  outcome({ ended }) {
    if (ended === 'right' || ended === 'gave up rightly') return 3
    // A search that comes to no answer is as bad as a wrong one: else it would be better not to answer than to compare and err.
    return -0.4
  },
  render: drawDesk,
  metrics: ({ ended, question }) => ({
    harmless: ended === 'wrong' || ended === 'unsupported' ? 0 : 1,
    gave_up: ended === 'gave up' || ended === 'gave up rightly' ? 1 : 0,
    hops: question.path.length * question.named.length,
  }),
})

const noteIds = (desk: Desk, accepts: (noted: Noted) => boolean = () => true) =>
  notesOf(desk)
    .filter(accepts)
    .map(({ place }) => placeId(place))

/** Relations of the open article that have not been looked up. */
const unseen = ({ article }: Desk) =>
  article === null ? [] : relationsOf(article.entity).filter((relation) => !article.seen.has(relation))

const isAt = (one: Place | null | undefined, other: Place) => one != null && placeId(one) === placeId(other)

/** Zeros for a note that is not taken yet. */
function noteFeatures(desk: Desk, place: Place): number[] {
  const note = noteAt(desk, place)
  if (note === undefined) return Array.from({ length: NOTE_FEATURES }, () => 0)
  return [
    1,
    // The question names its subjects without saying what they are.
    ...oneHot(kinds, place.depth === 0 ? null : note.entity.kind),
    ...[note.searched, isAt(desk.searched, place), isAt(desk.article?.of, place)].map(Number),
    note.year === null ? 0 : 1,
  ]
}

function resultFeatures(desk: Desk, entity: Entity): number[] {
  return [
    Number(hasName(desk, entity)),
    ...oneHot<Kind>(articleKinds, entity.kind),
    Number(namesSource(desk, entity)),
    Number(desk.opened.has(entity.id)),
  ]
}

/** Whether an article on the page has the name that was searched for. */
const hasName = (desk: Desk, { name }: Entity) =>
  desk.searched !== null && noteAt(desk, desk.searched)?.entity.name === name

/** Whether it names the subject that led to the search. */
function namesSource(desk: Desk, { names }: Entity): boolean {
  const source = desk.searched === null ? null : sourceOf(desk, desk.searched)
  return source !== null && names.has(source.id)
}

/** As a search engine counts its results: those of the same name by kind, and those that name the source as well; unread ones. */
function facetsOf(desk: Desk): number[] {
  const same = desk.results.filter((entity) => hasName(desk, entity) && !desk.opened.has(entity.id))
  const counts = articleKinds.map((kind) => same.filter((entity) => entity.kind === kind).length)
  return [...counts, same.filter((entity) => namesSource(desk, entity)).length]
}

function showPage(desk: Desk, place: Place, refined: boolean, right: boolean) {
  const note = noteAt(desk, place)
  if (note === undefined) return {}
  note.searched = true
  desk.results = search(desk.corpus, note.entity, sourceOf(desk, place), refined)
  desk.searched = place
  desk.refined = refined
  desk.opened = new Set()
  return end(desk, right, `Searched: ${note.entity.name}${refined ? ', refined' : ''}`)
}

function clearPage(desk: Desk): void {
  desk.results = []
  desk.searched = null
  desk.refined = false
  desk.opened = new Set()
}

function lookUp(desk: Desk, { relation }: { relation: Relation }) {
  const { article, trails } = desk
  if (article === null) return {}
  const right = isDue(desk, { tool: 'look_up', arguments: { relation } })
  const { trail, depth } = article.of
  const said = read(article.entity, relation)
  article.seen.add(relation)
  article.lookup = { relation, said: said === null ? 'unknown' : 'found' }
  const note = trails[trail][depth]
  if (typeof said === 'number') note.year = { value: said, from: article.entity.id }
  if (typeof said === 'string' && depth + 1 < DEPTHS[trail]) {
    const found = entityOf(desk.corpus, said)
    if (trails[trail][depth + 1]?.entity !== found) {
      trails[trail].splice(depth + 1, Number.POSITIVE_INFINITY, newNote(found))
      // The page may be that of a subject which is no longer noted.
      if (desk.searched?.trail === trail && desk.searched.depth > depth) clearPage(desk)
    }
  }
  if (said === null) desk.unknown = { any: true, needed: desk.unknown.needed || right }
  const what = typeof said === 'string' ? entityOf(desk.corpus, said).name : (said ?? 'not known')
  return end(desk, right, `${relation}: ${what}`)
}

/** Whether a call brings a trail forward that it has not brought forward before. */
function isDue(desk: Desk, call: Call): boolean {
  const wanted = JSON.stringify(call)
  const due = desk.trails.some((_, trail) => JSON.stringify(nextOnTrail(desk, trail)) === wanted)
  // Look-ups and refined searches are about what is open.
  const about =
    call.tool === 'look_up' ? desk.article?.entity.id : call.tool === 'refine' ? JSON.stringify(desk.searched) : ''
  const key = `${wanted} ${about}`
  if (!due || desk.paid.has(key)) return false
  desk.paid.add(key)
  return true
}

function answerWith(desk: Desk, entity: Entity | undefined) {
  if (entity?.id !== desk.question.answer) desk.ended = 'wrong'
  else desk.ended = isSupported(desk) ? 'right' : 'unsupported'
  return end(desk, desk.ended === 'right', `Answered: ${entity?.name}`)
}

/** Ends a call. */
function end(desk: Desk, right: boolean, message: string) {
  if (!right) desk.spareCalls -= 1
  desk.message = message
  return { right, done: desk.ended !== null || desk.spareCalls < 0 }
}
