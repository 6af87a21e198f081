/** A small encyclopedia: companies, books, people, cities, rivers and regions, linked by relations, and a search engine over it. */
import { createRng, type Rng } from '@agentgym/scenario'

export const kinds = ['company', 'book', 'person', 'city', 'river', 'region'] as const
export type Kind = (typeof kinds)[number]

/** What an article says about its subject: whom or what it is linked to. */
export const links = [
  'founder',
  'director',
  'seat',
  'author',
  'illustrator',
  'birthplace',
  'residence',
  'river',
  'region',
] as const
export type Link = (typeof links)[number]
/** The year in which a company was founded, a book was published, or a person was born. */
export const relations = [...links, 'year'] as const
export type Relation = (typeof relations)[number]

const linksOf: { readonly [Each in Kind]: { readonly [Name in Link]?: Kind } } = {
  company: { founder: 'person', director: 'person', seat: 'city' },
  book: { author: 'person', illustrator: 'person' },
  person: { birthplace: 'city', residence: 'city' },
  city: { river: 'river', region: 'region' },
  river: {},
  region: {},
}

/** An article and what it is about. */
export type Entity = {
  id: string
  name: string
  kind: Kind
  year: number
  /** Ids; null where the article says that it is not known. */
  links: { [Each in Link]?: string | null }
  /** Ids of the other subjects that the article names. */
  names: Set<string>
}

export type Corpus = {
  entities: Map<string, Entity>
  /** Ids of articles that a search for their name alone does not show on its page. */
  buried: Set<string>
  /** Seed of the search engine's order among equals. */
  noise: number
}

const FIRST_YEAR = 1880
const YEARS = 100
/** Results on a page. */
export const RESULTS = 5

const counts: { readonly [Each in Kind]: number } = { company: 4, book: 4, person: 10, city: 6, river: 3, region: 3 }
const starts = ['Bren', 'Cald', 'Dor', 'Elm', 'Fen', 'Garn', 'Hol', 'Ink', 'Kes', 'Lam', 'Mor', 'Nor', 'Os', 'Pell']
const ends = ['wick', 'der', 'ford', 'stead', 'by', 'low', 'mere', 'ton', 'gate', 'combe']
const works = ['Tools', 'Mills', 'Lines', 'Lights', 'Gardens', 'Bridges', 'Stones', 'Letters']
const firstNames = [
  'Anna',
  'Bruno',
  'Clara',
  'Daniel',
  'Edith',
  'Frank',
  'Greta',
  'Hugo',
  'Irene',
  'Jonas',
  'Karin',
  'Leo',
]
const lastNames = [
  'Holt',
  'Berg',
  'Castle',
  'Dale',
  'Ernst',
  'Frost',
  'Grant',
  'Hayes',
  'Irving',
  'Keller',
  'Lund',
  'Marsh',
]

/** Companies and books are called alike, so that a name does not say which one it is. */
function drawName(kind: Kind, rng: Rng): string {
  if (kind === 'person') return `${rng.pick(firstNames)} ${rng.pick(lastNames)}`
  const place = rng.pick(starts) + rng.pick(ends)
  return kind === 'company' || kind === 'book' ? `${place} ${rng.pick(works)}` : place
}

export function drawCorpus(rng: Rng): Corpus {
  const corpus: Corpus = { entities: new Map(), buried: new Set(), noise: rng.int(2 ** 30) }
  const taken = new Set<string>()
  for (const kind of [...kinds].reverse()) {
    for (let i = 0; i < counts[kind]; i += 1) {
      let name = drawName(kind, rng)
      while (taken.has(name)) name = drawName(kind, rng)
      taken.add(name)
      addEntity(corpus, name, kind, rng)
    }
  }
  return corpus
}

/** Adds an article, linked to others that are there. */
function addEntity({ entities, buried }: Corpus, name: string, kind: Kind, rng: Rng): Entity {
  const entity: Entity = {
    ...{ id: `${kind}-${entities.size}`, name, kind, year: FIRST_YEAR + rng.int(YEARS) },
    ...{ links: {}, names: new Set<string>() },
  }
  for (const [link, other] of Object.entries(linksOf[kind]) as [Link, Kind][]) {
    const linked = rng.pick([...entities.values()].filter((each) => each.kind === other))
    entity.links[link] = linked.id
    linked.names.add(entity.id)
    entity.names.add(linked.id)
  }
  if (rng() < 0.25) buried.add(entity.id)
  entities.set(entity.id, entity)
  return entity
}

/** Articles of other subjects with the same name, which a search brings up as well. */
export function addNamesakes(corpus: Corpus, { name, names, kind }: Entity, sameKind: boolean, rng: Rng): void {
  if (sameKind && rng() < 0.6) addEntity(corpus, name, kind, rng)
  if (rng() >= 0.6) return
  const other = addEntity(corpus, name, rng.pick((['company', 'book'] as const).filter((each) => each !== kind)), rng)
  // Such as a book about the person.
  if (rng() < 0.3) for (const id of names) other.names.add(id)
}

export function entityOf({ entities }: Corpus, id: string): Entity {
  const entity = entities.get(id)
  if (entity === undefined) throw new Error(`no article ${id}`)
  return entity
}

/** The relations that an article speaks of, as its table of facts lists them. */
export function relationsOf({ kind }: Entity): Relation[] {
  const named = Object.keys(linksOf[kind]) as Link[]
  return kind === 'company' || kind === 'book' || kind === 'person' ? [...named, 'year'] : named
}

/** What an article says about a relation: an id or a year, null if that is not known, undefined if it says nothing. */
export function read({ links, year, kind }: Entity, relation: Relation): string | number | null | undefined {
  if (relation !== 'year') return links[relation]
  return kind === 'city' || kind === 'river' || kind === 'region' ? undefined : year
}

/**
 * A page of articles, best first: those of the same name, and of these the ones that name the source, then others with a word of
 * it. A search for the name alone may leave the right article out; a refined one finds it. The same query has the same results.
 */
export function search(corpus: Corpus, wanted: Entity, source: Entity | null, refined: boolean): Entity[] {
  const all = [...corpus.entities.values()]
  const rng = createRng(corpus.noise + all.indexOf(wanted) * 2 + Number(refined))
  const words = wanted.name.split(' ')
  const score = (entity: Entity) => {
    if (entity.name === wanted.name) return source !== null && entity.names.has(source.id) ? 3 : 2
    return words.some((word) => entity.name.includes(word)) ? 1 : 0
  }
  const found = refined || !corpus.buried.has(wanted.id) ? all : all.filter((each) => each !== wanted)
  const ranked = rng.shuffle(found).map((entity) => ({ entity, score: score(entity) }))
  return ranked
    .sort((a, b) => b.score - a.score || kinds.indexOf(a.entity.kind) - kinds.indexOf(b.entity.kind))
    .slice(0, RESULTS)
    .map(({ entity }) => entity)
}
