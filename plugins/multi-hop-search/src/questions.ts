/** Questions that take two or three articles to answer, in words. */
import { fillIn, type Rng } from '@agentgym/scenario'
import { addNamesakes, type Corpus, type Entity, entityOf, type Link, type Relation } from './corpus.ts'

/** Which of two years is asked for. */
type Extreme = 'first' | 'last'

export type Question = {
  text: string
  /** Ids of the one or two subjects that it names. */
  named: readonly string[]
  /** What to look up, starting from each of them. */
  path: readonly Relation[]
  /** Null if an article says that it is not known. */
  answer: string | null
}

/** How a link is named within a question. */
const phrases: { readonly [Each in Link]?: readonly string[] } = {
  founder: ['the founder of {x}', 'the person who founded {x}', 'the entrepreneur who started {x}'],
  director: ['the director of {x}', 'the person who runs {x}', 'the head of {x}'],
  seat: ['the city where {x} has its seat', 'the city in which {x} is based', 'the headquarters of {x}'],
  author: ['the author of {x}', 'the person who wrote {x}', 'the writer of {x}'],
  illustrator: ['the illustrator of {x}', 'the person who drew the pictures of {x}', 'the artist who painted for {x}'],
  birthplace: ['the city where {x} was born', 'the birthplace of {x}', 'the native city of {x}'],
  residence: ['the city where {x} lives', 'the home of {x}', 'the city that {x} moved to'],
}

/** How a question asks for the end of its path. */
const leads: { readonly [Each in Link]?: readonly string[] } = {
  birthplace: ['In which city was {x} born?', 'Where was {x} born?', 'Name the birthplace of {x}.'],
  residence: ['In which city does {x} live?', 'Where does {x} live today?', 'Where has {x} moved to?'],
  river: ['Which river flows through {x}?', 'Name the river of {x}.', 'What is the river in {x} called?'],
  region: ['In which region is {x}?', 'Which region does {x} belong to?', 'Name the region around {x}.'],
}

const comparisons: {
  readonly [Each in 'company' | 'book' | 'person']: { readonly [Which in Extreme]: readonly string[] }
} = {
  company: {
    first: ['Which company was founded first, {x} or {y}?', 'Which firm is older, {x} or {y}?'],
    last: ['Which company was founded last, {x} or {y}?', 'Which firm is younger, {x} or {y}?'],
  },
  book: {
    first: ['Which book was published first, {x} or {y}?', 'Which novel is older, {x} or {y}?'],
    last: ['Which book was published last, {x} or {y}?', 'Which novel is younger, {x} or {y}?'],
  },
  person: {
    first: ['Who was born first, {x} or {y}?', 'Who is older, {x} or {y}?'],
    last: ['Who was born last, {x} or {y}?', 'Who is younger, {x} or {y}?'],
  },
}

const fromStart = { company: ['founder', 'director'], book: ['author', 'illustrator'] } as const
const toCity = ['birthplace', 'residence'] as const
const ofCity = ['river', 'region'] as const

/** Two years that are compared are this far apart. */
const LEAST_YEARS_APART = 10
/** Of the questions that follow one path, how many have no answer. */
const UNKNOWN = 0.12
/** Of the other facts in the articles on the way, how many are not known either. */
const UNKNOWN_BESIDE = 0.1

/** A question about the corpus, to which it adds subjects of the same names. */
export function drawQuestion(corpus: Corpus, rng: Rng): Question {
  return rng() < 0.6 ? followOne(corpus, rng) : compareTwo(corpus, rng)
}

/** Such as: which river flows through the city where the founder of Brenwick Tools was born? */
function followOne(corpus: Corpus, rng: Rng): Question {
  const start = rng.pick(['company', 'book'] as const)
  const path: Link[] = rng.pick([
    () => [rng.pick(fromStart[start]), rng.pick(toCity)],
    () => [rng.pick(toCity), rng.pick(ofCity)],
    () => ['seat' as const, rng.pick(ofCity)],
    () => [rng.pick(fromStart[start]), rng.pick(toCity), rng.pick(ofCity)],
    () => [rng.pick(fromStart[start]), rng.pick(toCity), rng.pick(ofCity)],
  ])()
  const kind = path[0] === 'seat' ? 'company' : path[0] === 'birthplace' || path[0] === 'residence' ? 'person' : start
  const named = rng.pick(ofKind(corpus, kind))
  let text = named.name
  for (const link of path.slice(0, -1)) text = fillIn(rng.pick(phrases[link] ?? []), { x: text }, rng)
  text = fillIn(rng.pick(leads[path[path.length - 1]] ?? []), { x: text }, rng)

  let last = named
  const unknown = rng() < UNKNOWN ? rng.int(path.length) : -1
  for (const [hop, link] of path.entries()) {
    addNamesakes(corpus, last, hop > 0, rng)
    for (const other of Object.keys(last.links) as Link[]) {
      if (other !== link && rng() < UNKNOWN_BESIDE) last.links[other] = null
    }
    if (hop === unknown) {
      last.links[link] = null
      return { text, named: [named.id], path, answer: null }
    }
    last = entityOf(corpus, last.links[link] ?? '')
  }
  return { text, named: [named.id], path, answer: last.id }
}

/** Such as: who was born first, the author of Calder Lights or that of Fenby Mills? */
function compareTwo(corpus: Corpus, rng: Rng): Question {
  const which = rng.pick(['first', 'last'] as const)
  const through = rng() < 0.5
  const start = through ? rng.pick(['company', 'book'] as const) : rng.pick(['company', 'book', 'person'] as const)
  const link = through ? rng.pick(fromStart[start as 'company' | 'book']) : null
  const compared = (entity: Entity) => (link === null ? entity : entityOf(corpus, entity.links[link] ?? ''))
  const all = ofKind(corpus, start)
  const pairs = all.flatMap((a) => all.map((b) => [a, b]))
  const apart = pairs.filter(([a, b]) => Math.abs(compared(a).year - compared(b).year) >= LEAST_YEARS_APART)
  // Hardly ever are all of them of about the same age.
  if (apart.length === 0) return followOne(corpus, rng)
  const [one, two] = rng.pick(apart)
  const names =
    link === null
      ? { x: one.name, y: two.name }
      : { x: fillIn(rng.pick(phrases[link] ?? []), { x: one.name }, rng), y: `that of ${two.name}` }
  const text = fillIn(rng.pick(comparisons[link === null ? start : 'person'][which]), names, rng)
  const order = [compared(one), compared(two)].sort((a, b) => a.year - b.year)
  for (const entity of [one, two]) {
    addNamesakes(corpus, entity, false, rng)
    if (link !== null) addNamesakes(corpus, compared(entity), true, rng)
  }
  return {
    ...{ text, named: [one.id, two.id], path: link === null ? ['year'] : [link, 'year'] },
    answer: order[which === 'first' ? 0 : 1].id,
  }
}

const ofKind = ({ entities }: Corpus, kind: Entity['kind']) =>
  [...entities.values()].filter((each) => each.kind === kind)
