import type { Quality } from '@agentgym/contract'
import type { VersionCheck } from '../../core/database/schema.ts'

/** Facts about a package's latest version. */
export type QualityInput = {
  kind: 'scenario' | 'agent'
  readme: string
  summary: string
  keywords: readonly string[]
  /** Whether package.json has a repository or home page. */
  linked: boolean
  checks: readonly VersionCheck[]
  /** Result of the check `speed`; null if it was not measured. */
  stepsPerSecond: number | null
  /** Number of success criteria in package.json. */
  successCriteria: number
  deprecated: boolean
  daysSincePublish: number
}

type Part = Quality['parts'][number]
/** Points, their reason, and how to get them. */
type Item = { points: number; got: boolean; missing: string }

/**
 * The score, 0 to 100, and its parts. README.md has the table. Every point has an objective reason that the author can
 * see and fix. Parts that need the sandbox do not apply to agents, whose models are verified instead; their other parts
 * are scaled to 100.
 */
export function packageQuality(input: QualityInput): Quality {
  const parts = [docs(input), checks(input)]
  if (input.kind === 'scenario') parts.push(determinism(input), baselines(input), speed(input))
  parts.push(maintenance(input))
  const points = parts.reduce((sum, part) => sum + part.points, 0)
  const of = parts.reduce((sum, part) => sum + part.of, 0)
  return { score: Math.round((100 * points) / of), parts }
}

function docs({ readme, summary, keywords, linked }: QualityInput): Part {
  const words = readme.split(/\s+/).filter(Boolean).length
  const headings = readme.match(/^#{1,6} /gm)?.length ?? 0
  return sumUp('docs', 'A README with headings and an example, a summary, keywords and a link.', [
    { points: 6, got: words >= 50, missing: 'a README of 50 words' },
    { points: 5, got: words >= 200, missing: 'a README of 200 words' },
    { points: 4, got: headings >= 3, missing: 'three headings in the README' },
    { points: 4, got: /^ {0,3}(```|~~~)/m.test(readme), missing: 'a code example in the README' },
    { points: 2, got: summary.length >= 30, missing: 'a summary of 30 characters' },
    { points: 2, got: keywords.length >= 3, missing: 'three keywords' },
    { points: 2, got: linked, missing: 'a repository or home page in package.json' },
  ])
}

/** All checks count alike, whatever their number. */
function checks({ checks: all }: QualityInput): Part {
  const of = 25
  if (all.length === 0) return { id: 'checks', points: 0, of, why: 'No check has run.' }
  const failed = all.filter(({ ok }) => !ok)
  const why =
    failed.length === 0
      ? `All ${all.length} checks passed.`
      : `Failed: ${failed.map(({ id }) => id).join(', ')}; ${all.length - failed.length} of ${all.length} passed.`
  return { id: 'checks', points: Math.floor((of * (all.length - failed.length)) / all.length), of, why }
}

function determinism(input: QualityInput): Part {
  return sumUp('determinism', 'The same seed gives the same trajectory, also in batches and in replays.', [
    { points: 7, got: passed(input, 'determinism'), missing: 'the check determinism' },
    { points: 4, got: passed(input, 'independence'), missing: 'the check independence' },
    { points: 4, got: passed(input, 'replay'), missing: 'the check replay' },
  ])
}

function baselines(input: QualityInput): Part {
  const complete =
    'Success is defined, above the untrained baseline, reached by an oracle, and evaluated on held-out tasks.'
  return sumUp('baselines', complete, [
    { points: 4, got: input.successCriteria > 0, missing: 'agentgym.success in package.json' },
    { points: 2, got: passed(input, 'reward_varies'), missing: 'the check reward_varies' },
    { points: 3, got: passed(input, 'baselines'), missing: 'the check baselines' },
    { points: 2, got: passed(input, 'held_out'), missing: 'the check held_out' },
    { points: 2, got: solvable(input), missing: 'an oracle that meets the criteria' },
    { points: 2, got: sound(input), missing: 'the check doctor without findings' },
  ])
}

const rates: { perSecond: number; points: number }[] = [
  { perSecond: 1_000_000, points: 10 },
  { perSecond: 300_000, points: 8 },
  { perSecond: 100_000, points: 6 },
  { perSecond: 30_000, points: 4 },
  { perSecond: 10_000, points: 2 },
]

function speed(input: QualityInput): Part {
  const perSecond = input.stepsPerSecond
  if (perSecond === null) return { id: 'speed', points: 0, of: 10, why: 'Its speed has not been measured.' }
  const points = rates.find((rate) => perSecond >= rate.perSecond)?.points ?? 1
  const next = rates.findLast((rate) => rate.perSecond > perSecond)
  const more = next === undefined ? '' : `; ${next.points} points from ${next.perSecond.toLocaleString('en')}`
  return {
    id: 'speed',
    points,
    of: 10,
    why: `${Math.round(perSecond).toLocaleString('en')} steps a second on one core${more}.`,
  }
}

const ages: { days: number; points: number }[] = [
  { days: 180, points: 10 },
  { days: 365, points: 7 },
  { days: 730, points: 4 },
]

function maintenance({ deprecated, daysSincePublish }: QualityInput): Part {
  const id = 'maintenance'
  if (deprecated) return { id, points: 0, of: 10, why: 'The latest version is deprecated.' }
  const days = Math.max(0, Math.floor(daysSincePublish))
  const points = ages.find((age) => days <= age.days)?.points ?? 1
  const ago = days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days.toLocaleString('en')} days ago`
  return { id, points, of: 10, why: `Last published ${ago}.` }
}

function passed({ checks: all }: QualityInput, id: string): boolean {
  return all.some((check) => check.id === id && check.ok)
}

/** Only a scenario that has an oracle has its return. */
function solvable({ checks: all }: QualityInput): boolean {
  return all.some(({ id, ok, value }) => id === 'oracle' && ok && value !== undefined)
}

function sound({ checks: all }: QualityInput): boolean {
  return all.some(({ id, ok, warning }) => id === 'doctor' && ok && warning !== true)
}

function sumUp(id: Part['id'], complete: string, items: Item[]): Part {
  const missing = items.filter(({ got }) => !got)
  return {
    id,
    points: items.reduce((sum, { points, got }) => sum + (got ? points : 0), 0),
    of: items.reduce((sum, { points }) => sum + points, 0),
    why:
      missing.length === 0
        ? complete
        : `Missing: ${missing.map((item) => `${item.missing} (${item.points})`).join(', ')}.`,
  }
}

type Json = Record<string, unknown>

/**
 * What the catalog uses from the package.json of a published version. It was valid when published, but rules change.
 */
export type ManifestFacts = {
  title: string
  summary: string
  category: string | null
  difficulty: string | null
  algorithm: string | null
  keywords: string[]
  license: string | null
  homepage: string | null
  repository: string | null
  successCriteria: number
  agentgym: Json
}

export function manifestFacts(name: string, manifest: Json): ManifestFacts {
  const agentgym = object(manifest.agentgym)
  const repository = text(manifest.repository) ?? text(object(manifest.repository).url)
  return {
    title: text(agentgym.title) ?? name.slice(name.indexOf('/') + 1),
    summary: text(agentgym.summary) ?? text(manifest.description)?.slice(0, 280) ?? '',
    category: text(agentgym.category),
    difficulty: text(agentgym.difficulty),
    algorithm: (text(agentgym.algorithm) ?? text(object(agentgym.training).algorithm))?.slice(0, 40) ?? null,
    keywords: keywords(manifest.keywords),
    license: text(manifest.license),
    homepage: webAddress(text(manifest.homepage)),
    repository: webAddress(repository),
    successCriteria: Object.keys(object(agentgym.success)).length,
    agentgym,
  }
}

function keywords(value: unknown): string[] {
  const list = Array.isArray(value) ? value.filter((word) => typeof word === 'string' && word !== '') : []
  return [...new Set<string>(list)].slice(0, 50)
}

/** As npm writes repositories (`git+https://…/x.git`, `git@host:x`) and people write pages; only http(s) leads anywhere. */
function webAddress(value: string | null): string | null {
  const address =
    value
      ?.replace(/^git\+/, '')
      .replace(/^git:/, 'https:')
      .replace(/\.git$/, '') ?? ''
  const url = URL.parse(address)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
}
