/** The state of a search, and what brings it forward: the next call along the path of the question. */
import { type Corpus, type Entity, entityOf, type Relation, read } from './corpus.ts'
import type { Question } from './questions.ts'

/** A subject that the question names or an article has led to, and what has been done about it. */
export type Note = {
  entity: Entity
  /** Whether its name has been searched for. */
  searched: boolean
  /** A year that was looked up for it, and the article that says so. */
  year: { value: number; from: string } | null
}

/** Where a note is: the trail starts from a subject of the question, and each link leads a step down. */
export type Place = { trail: number; depth: number }

export type Desk = {
  corpus: Corpus
  question: Question
  /** A trail for each subject that the question names, and what should be found along it. */
  trails: Note[][]
  due: Entity[][]
  /** The page of the last search, and for which note it was. */
  results: Entity[]
  searched: Place | null
  /** Whether that search had the context as well. */
  refined: boolean
  /** Articles that were opened from this page. */
  opened: Set<string>
  /** The article that is open, the note that it was searched for, what was looked up in it, and the last of that. */
  article: {
    entity: Entity
    of: Place
    seen: Set<Relation>
    lookup: { relation: Relation; said: 'found' | 'unknown' } | null
  } | null
  /** Whether an article has said that something is not known, and whether that is what the question needs. */
  unknown: { any: boolean; needed: boolean }
  /** Steps of the path that were paid; each is paid once. */
  paid: Set<string>
  /** Calls that may still bring nothing forward. */
  spareCalls: number
  ended: 'right' | 'unsupported' | 'wrong' | 'gave up' | 'gave up rightly' | null
  /** For people who watch. */
  message: string
}

/** Which of two years a comparison asks for. */
export const picks = ['earlier', 'later'] as const
type Pick = (typeof picks)[number]

export type Call =
  | { tool: 'search'; arguments: { note: string } }
  | { tool: 'refine' }
  | { tool: 'open'; arguments: { result: string } }
  | { tool: 'look_up'; arguments: { relation: Relation } }
  | { tool: 'answer'; arguments: { note: string } }
  | { tool: 'answer_by_year'; arguments: { pick: Pick } }
  | { tool: 'give_up' }

/** Notes of each trail: its subject and the links that were followed. Only a first subject is followed far. */
export const DEPTHS = [4, 2] as const
export const places: Place[] = DEPTHS.flatMap((depths, trail) =>
  Array.from({ length: depths }, (_, depth) => ({ trail, depth })),
)

export const newNote = (entity: Entity): Note => ({ entity, searched: false, year: null })
export const placeId = ({ trail, depth }: Place) => `${'ab'[trail]}${depth}`
export const placeOf = (id: string): Place => ({ trail: id[0] === 'a' ? 0 : 1, depth: Number(id[1]) })
export const noteAt = ({ trails }: Desk, { trail, depth }: Place): Note | undefined => trails[trail]?.[depth]

export type Noted = { note: Note; place: Place }

/** Every note with its place. */
export const notesOf = ({ trails }: Desk): Noted[] =>
  trails.flatMap((notes, trail) => notes.map((note, depth) => ({ note, place: { trail, depth } })))

/** The article that led to a note; none for subjects of the question. */
export function sourceOf({ trails }: Desk, { trail, depth }: Place): Entity | null {
  return depth === 0 ? null : trails[trail][depth - 1].entity
}

/** The subjects along each trail, as they should be found; shorter where one is not known. */
export function rightTrails(corpus: Corpus, { named, path }: Question): Entity[][] {
  return named.map((id) => {
    const found = [entityOf(corpus, id)]
    for (const relation of path) {
      const next = read(found[found.length - 1], relation)
      if (typeof next !== 'string') break
      found.push(entityOf(corpus, next))
    }
    return found
  })
}

/** The next call along a trail; null if nothing is left to look up. */
export function nextOnTrail(desk: Desk, trail: number): Call | null {
  const { question, trails, article, results, searched } = desk
  const due = desk.due[trail]
  let depth = 0
  while (depth + 1 < due.length && trails[trail][depth + 1]?.entity === due[depth + 1]) depth += 1
  const relation = question.path[depth]
  if (relation === undefined) return null
  const note = trails[trail][depth]
  if (relation === 'year' && note.year?.from === note.entity.id) return null
  const place = { trail, depth }
  const id = placeId(place)
  if (article?.entity === note.entity && placeId(article.of) === id) return { tool: 'look_up', arguments: { relation } }
  if (searched === null || placeId(searched) !== id) return { tool: 'search', arguments: { note: id } }
  return results.includes(note.entity) ? { tool: 'open', arguments: { result: note.entity.id } } : { tool: 'refine' }
}

/** The notes whose years can be compared, the earlier one first: those deepest on the trails. Null as long as there are none. */
export function byYear({ trails }: Desk): [Note, Note] | null {
  for (let depth = DEPTHS[1] - 1; depth >= 0; depth -= 1) {
    const [one, two] = trails.map((notes) => notes[depth])
    if (one?.year == null || two?.year == null) continue
    return one.year.value <= two.year.value ? [one, two] : [two, one]
  }
  return null
}

/** The next call of a reader who makes no mistake. */
export function nextCall(desk: Desk): Call {
  if (desk.unknown.needed) return { tool: 'give_up' }
  for (const trail of desk.trails.keys()) {
    const call = nextOnTrail(desk, trail)
    if (call !== null) return call
  }
  const years = byYear(desk)
  if (years !== null) {
    return { tool: 'answer_by_year', arguments: { pick: picks[years[0].entity.id === desk.question.answer ? 0 : 1] } }
  }
  const right = notesOf(desk).find(({ note }) => note.entity.id === desk.question.answer)
  return right === undefined ? { tool: 'give_up' } : { tool: 'answer', arguments: { note: placeId(right.place) } }
}

/** Whether everything has been looked up that the answer follows from. */
export const isSupported = (desk: Desk) => desk.trails.every((_, trail) => nextOnTrail(desk, trail) === null)
