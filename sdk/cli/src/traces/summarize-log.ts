import { createHash } from 'node:crypto'
import { createRng } from '@agentgym/scenario'
import { identifier } from '../agent-tools/identifiers.ts'
import { cut, type LoggedCall, type LoggedEpisode } from './logged-episode.ts'
import { usualOutcomes } from './outcomes.ts'
import { type PersonalData, standInPattern } from './personal-data.ts'

/** As `src/log.json` of a scenario from traces holds it; templates/from-traces/src/log.ts reads it. */
export type LogSummary = {
  tools: ToolSummary[]
  /** Name of the tool that ends an episode with an answer. */
  answer: { name: string; tokens: number; seconds: number }
  requests: LoggedRequest[]
  logged: LoggedPolicy
}

export type ToolSummary = {
  name: string
  /** Calls, and the share of them that failed. */
  calls: number
  failures: number
  /** Means a call. */
  tokens: number
  seconds: number
  /** Arguments that take few values, by field. */
  choices: Record<string, string[]>
  /** Results that were logged, by the chosen arguments, the most frequent first. */
  results: { arguments: Record<string, string>; result: string; count: number }[]
}

export type LoggedRequest = {
  request: string
  heldOut: boolean
  /** The calls that the request takes, by what the logged agent did. */
  needs: { tool: string; arguments: Record<string, string>; result: string }[]
}

/** What the logged agent did: the policy to beat. */
export type LoggedPolicy = {
  episodes: number
  /** Share of the episodes that were solved; null where the log does not say. */
  solved: number | null
  /** Means an episode. */
  calls: number
  tokens: number
  seconds: number
}

const MAX_REQUESTS = 2_000
const MAX_TOOLS = 128
const MAX_REQUEST = 1_000
const MAX_RESULT = 200
/** An argument with more values than this is not one to choose from. */
const MAX_VALUES = 16
const MAX_VALUE = 100
const MAX_RESULTS = 50
const MAX_NEEDS = 16
const HELD_OUT_SHARE = 5
/** Characters of a token where the log counts none. */
const CHARACTERS_A_TOKEN = 4

type Kept = { request: string; calls: LoggedCall[]; outcomes: Record<string, number>; answered: boolean; cost: number }
type Sum = { sum: number; count: number }
type ToolTotals = {
  name: string
  calls: number
  failures: number
  tokens: Sum
  seconds: Sum
  /** By field, by value; null for a field with too many. */
  values: Map<string, Map<string, number> | null>
}

/** Gathers episodes one by one. Memory holds totals, and 2,000 episodes that are drawn evenly from all of them. */
export class LogCollector {
  readonly #mask: PersonalData
  readonly #tools = new Map<string, ToolTotals>()
  readonly #names = new Set<string>()
  readonly #sample: Kept[] = []
  readonly #rng = createRng(1)
  readonly #totals = { calls: sum(), tokens: sum(), seconds: sum(), answerTokens: sum(), answerSeconds: sum() }
  readonly #outcomes = new Map<string, { count: number; values: Map<number, number> }>()
  episodes = 0
  followUps = 0
  /** Episodes without a call of a tool. */
  withoutCalls = 0
  /** Episodes whose tokens were estimated from the length of their texts. */
  estimatedTokens = 0

  constructor(mask: PersonalData) {
    this.#mask = mask
  }

  add(episode: LoggedEpisode): void {
    this.episodes += 1
    if (episode.followUps > 0) this.followUps += 1
    if (episode.calls.length === 0) this.withoutCalls += 1
    const masked = maskEpisode(episode, this.#mask)
    const counted = [...episode.calls.map(({ tokens }) => tokens), episode.answerTokens].some(
      (tokens) => tokens !== null,
    )
    if (!counted) this.#estimate(masked)
    for (const call of masked.calls) this.#addCall(call)
    this.#addTotals(masked)
    for (const [name, value] of Object.entries(masked.outcomes)) this.#addOutcome(name, value)
    this.#keep(masked)
  }

  /** The outcomes that the log has: by name, in how many episodes. */
  outcomeCounts(): Record<string, number> {
    return Object.fromEntries([...this.#outcomes].map(([name, { count }]) => [name, count]))
  }

  /** The outcome that is used: the named one, or the first of the usual ones; null where there is none. */
  outcomeName(named: string | undefined): string | null {
    if (named !== undefined) return this.#outcomes.has(named) ? named : null
    return usualOutcomes.find((name) => this.#outcomes.has(name)) ?? null
  }

  summary(outcome: string | null, solvedAt: number): LogSummary {
    const tools = [...this.#tools.values()].map((tool) => this.#summarize(tool))
    const solves = ({ outcomes }: Kept) => outcome === null || outcomes[outcome] >= solvedAt
    const choices = new Map(tools.map((tool) => [tool.name, tool.choices]))
    const requests = requestsOf(this.#sample.filter(solves), choices)
    const answerName = identifier('answer', 'answer', this.#names)
    const scored = outcome === null ? undefined : this.#outcomes.get(outcome)
    return {
      tools,
      answer: { name: answerName, tokens: mean(this.#totals.answerTokens), seconds: mean(this.#totals.answerSeconds) },
      requests,
      logged: {
        episodes: this.episodes,
        solved: scored === undefined ? null : round(shareFrom(scored.values, solvedAt)),
        calls: mean(this.#totals.calls),
        tokens: mean(this.#totals.tokens),
        seconds: mean(this.#totals.seconds),
      },
    }
  }

  #addCall(call: LoggedCall): void {
    const known = this.#tools.get(call.tool)
    if (known === undefined && this.#tools.size >= MAX_TOOLS) return
    const tool = known ?? this.#newTool(call.tool)
    tool.calls += 1
    if (call.failed) tool.failures += 1
    if (call.tokens !== null) add(tool.tokens, call.tokens)
    if (call.seconds !== null) add(tool.seconds, call.seconds)
    for (const [field, value] of Object.entries(call.arguments)) countValue(tool.values, field, value)
  }

  #newTool(declared: string): ToolTotals {
    const name = identifier(declared, 'call', this.#names)
    this.#names.add(name)
    const tool = { name, calls: 0, failures: 0, tokens: sum(), seconds: sum(), values: new Map() }
    this.#tools.set(declared, tool)
    return tool
  }

  #addTotals({ calls, answerTokens, answerSeconds }: LoggedEpisode): void {
    const total = (values: (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0)
    add(this.#totals.calls, calls.length)
    add(this.#totals.tokens, total([...calls.map(({ tokens }) => tokens), answerTokens]))
    add(this.#totals.seconds, total([...calls.map(({ seconds }) => seconds), answerSeconds]))
    if (answerTokens !== null) add(this.#totals.answerTokens, answerTokens)
    if (answerSeconds !== null) add(this.#totals.answerSeconds, answerSeconds)
  }

  #addOutcome(name: string, value: number): void {
    const outcome = this.#outcomes.get(name) ?? { count: 0, values: new Map<number, number>() }
    this.#outcomes.set(name, outcome)
    outcome.count += 1
    // Scores with very many values are rounded: only their share from a threshold up counts.
    const rounded = outcome.values.size < 1_000 ? value : Math.round(value * 100) / 100
    outcome.values.set(rounded, (outcome.values.get(rounded) ?? 0) + 1)
  }

  /** A sample of all episodes with calls, each as likely (Vitter's algorithm R). */
  #keep({ request, calls, outcomes, answered }: LoggedEpisode): void {
    if (calls.length === 0) return
    const cost = calls.reduce((all, { tokens }) => all + (tokens ?? 0), 0)
    const named = calls.map((call) => ({ ...call, tool: this.#tools.get(call.tool)?.name ?? '' }))
    const kept = { request, calls: named, outcomes, answered, cost }
    if (this.#sample.length < MAX_REQUESTS) this.#sample.push(kept)
    else {
      const place = this.#rng.int(this.episodes - this.withoutCalls)
      if (place < MAX_REQUESTS) this.#sample[place] = kept
    }
  }

  #estimate(episode: LoggedEpisode): void {
    this.estimatedTokens += 1
    const length = (text: string) => Math.ceil(text.length / CHARACTERS_A_TOKEN)
    for (const call of episode.calls) call.tokens = length(JSON.stringify(call.arguments)) + length(call.result)
    episode.answerTokens = length(episode.request)
  }

  #summarize({ name, calls, failures, tokens, seconds, values }: ToolTotals): ToolSummary {
    const choices: Record<string, string[]> = {}
    const taken = new Set<string>()
    for (const [field, counts] of values) {
      if (counts === null || !isChoice(counts, calls)) continue
      const parameter = identifier(field, 'argument', taken)
      // A field that is no name could not be matched with the calls.
      if (parameter !== field) continue
      taken.add(parameter)
      choices[field] = [...counts.keys()].sort()
    }
    return {
      ...{ name, calls, choices },
      failures: round(failures / calls),
      tokens: mean(tokens),
      seconds: mean(seconds),
      results: this.#results(name, choices),
    }
  }

  #results(name: string, choices: Record<string, string[]>): ToolSummary['results'] {
    const found = new Map<string, ToolSummary['results'][number]>()
    for (const { calls } of this.#sample)
      for (const call of calls) {
        if (call.tool !== name || call.failed) continue
        const args = chosenOf(call, choices)
        const key = JSON.stringify([args, call.result])
        const known = found.get(key) ?? { arguments: args, result: call.result, count: 0 }
        known.count += 1
        found.set(key, known)
      }
    return [...found.values()].sort((a, b) => b.count - a.count).slice(0, MAX_RESULTS)
  }
}

function maskEpisode(episode: LoggedEpisode, mask: PersonalData): LoggedEpisode {
  const values = new Set<string>()
  for (const { arguments: args } of episode.calls) mask.fieldValues(args, values)
  // A secret that the cut would split is still whole for the rules.
  const text = (given: string, longest: number) => cut(mask.textWith(cut(given, 4 * longest), values), longest)
  return {
    ...episode,
    request: text(episode.request, MAX_REQUEST),
    calls: episode.calls.map((call) => ({
      ...call,
      arguments: mask.json(call.arguments) as Record<string, unknown>,
      result: text(call.result, MAX_RESULT),
    })),
  }
}

/** An episode with texts of the length that a scenario keeps. */
export function cutEpisode(episode: LoggedEpisode): LoggedEpisode {
  const calls = episode.calls.map((call) => ({ ...call, result: cut(call.result, MAX_RESULT) }))
  return { ...episode, request: cut(episode.request, MAX_REQUEST), calls }
}

function countValue(values: ToolTotals['values'], field: string, given: unknown): void {
  const value = wordOf(given)
  const counts = values.get(field) ?? (values.has(field) ? null : new Map<string, number>())
  if (counts === null) return
  if (value === null || (!counts.has(value) && counts.size >= MAX_VALUES) || values.size > 64)
    return void values.set(field, null)
  values.set(field, counts.set(value, (counts.get(value) ?? 0) + 1))
}

/** An argument as a word that can be chosen; null for one that is none. */
function wordOf(value: unknown): string | null {
  const word = typeof value === 'boolean' || typeof value === 'number' ? String(value) : value
  return typeof word === 'string' && word !== '' && word.length <= MAX_VALUE ? word : null
}

/** Two values at least, each seen three times on average, and every call has one. */
function isChoice(counts: ReadonlyMap<string, number>, calls: number): boolean {
  const total = [...counts.values()].reduce((all, count) => all + count, 0)
  return counts.size >= 2 && total >= 3 * counts.size && total === calls
}

function chosenOf(call: LoggedCall, choices: Record<string, string[]> | undefined): Record<string, string> {
  return Object.fromEntries(Object.keys(choices ?? {}).map((field) => [field, wordOf(call.arguments[field]) ?? '']))
}

/**
 * What each request takes: of the episodes with the same wording, the calls of the cheapest, without those that failed and without
 * repetitions.
 */
function requestsOf(kept: readonly Kept[], choices: ReadonlyMap<string, Record<string, string[]>>): LoggedRequest[] {
  const cheapest = new Map<string, Kept>()
  for (const episode of kept) {
    const wording = wordingOf(episode.request)
    const known = cheapest.get(wording)
    if (known === undefined || episode.cost < known.cost) cheapest.set(wording, episode)
  }
  return [...cheapest.values()].flatMap(({ request, calls }) => {
    const needs = new Map<string, LoggedRequest['needs'][number]>()
    for (const call of calls) {
      if (call.failed || call.tool === '') continue
      const args = chosenOf(call, choices.get(call.tool))
      const key = JSON.stringify([call.tool, args])
      if (!needs.has(key)) needs.set(key, { tool: call.tool, arguments: args, result: call.result })
    }
    if (needs.size === 0 || needs.size > MAX_NEEDS) return []
    return [{ request, heldOut: isHeldOut(request), needs: [...needs.values()] }]
  })
}

/** By the wording, so that no wording is in both splits. */
function isHeldOut(request: string): boolean {
  return createHash('sha256').update(wordingOf(request)).digest().readUInt32LE(0) % HELD_OUT_SHARE === 0
}

/** Requests that differ in what was masked alone have the same wording. */
function wordingOf(request: string): string {
  return request.replace(standInPattern, '$1').toLowerCase()
}

function sum(): Sum {
  return { sum: 0, count: 0 }
}

function add(total: Sum, value: number): void {
  total.sum += value
  total.count += 1
}

function mean({ sum, count }: Sum): number {
  return count === 0 ? 0 : round(sum / count)
}

function shareFrom(values: ReadonlyMap<number, number>, least: number): number {
  let [from, all] = [0, 0]
  for (const [value, count] of values) {
    all += count
    if (value >= least) from += count
  }
  return from / all
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4
}
