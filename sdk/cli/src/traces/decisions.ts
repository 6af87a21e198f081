/** Decisions of a log as an agent would have met them: the observation, what was chosen, how likely, and what came of it. */
import type { Agent } from '@agentgym/agent'
import { AgentGymError } from '@agentgym/contract'
import type { LoggedDecision, LoggedTrajectory } from '@agentgym/runtime'
import { tokenize } from '@agentgym/scenario'
import { z } from 'zod'
import { observationOf, type SeenCall } from '../../templates/from-traces/src/observe.ts'
import { identifier } from '../agent-tools/identifiers.ts'
import { assembleEpisodes, noCounts } from './assemble-episodes.ts'
import type { LoggedEpisode } from './logged-episode.ts'
import { usualOutcomes } from './outcomes.ts'
import { cutEpisode } from './summarize-log.ts'

const probability = z.number().min(0).max(1)
const scored = z.union([z.number(), z.boolean().transform(Number)])

/** A line of a decision log: one episode. */
const decisionLineSchema = z.object({
  /** What came of the episode: paid with its last step, beside the rewards of the steps. */
  outcome: scored.nullish(),
  steps: z
    .array(
      z.object({
        observation: z.unknown(),
        /** What was legal, in the form of the action. */
        mask: z.unknown().optional(),
        /** The name of the tool. */
        action: z.string(),
        probability: probability.nullish(),
        probabilities: z.record(z.string(), probability).nullish(),
        reward: z.number().nullish(),
      }),
    )
    .min(1)
    .max(10_000),
})
type DecisionLine = z.infer<typeof decisionLineSchema>

export type DecisionOptions = {
  /** Name of the outcome in traces. Default: the first of the usual ones. */
  outcome?: string
  /** True weighs actions by the agent's probabilities; false takes the likeliest, as evaluations do. */
  sampled: boolean
}

/** Episodes that go through the agent at once. */
const BATCH = 500
/** Words of texts share these features by their hash. */
const WORD_FEATURES = 32

/** Reads logs, asks the agent at every step, and returns what an estimate needs. Throws `traces_invalid` and `estimate_refused`. */
export async function readTrajectories(
  values: AsyncIterable<unknown>,
  agent: Agent,
  options: DecisionOptions,
): Promise<LoggedTrajectory[]> {
  const labels = agent.labels
  if (labels === null) {
    throw new AgentGymError({
      code: 'estimate_refused',
      message: 'No estimate: this agent does not choose among named actions',
      hint: 'Evaluate it in its scenario: agentgym eval AGENT.',
      data: { reason: 'action' },
    })
  }
  const trajectories: LoggedTrajectory[] = []
  let batch: DecisionLine[] = []
  const flush = () => {
    trajectories.push(...weighBatch(batch, agent, labels, options))
    batch = []
  }
  for await (const line of decisionLines(values, agent, labels, options)) {
    batch.push(line)
    if (batch.length === BATCH) flush()
  }
  flush()
  return trajectories
}

/** Lines of a decision log as they are; traces as an agent in their place would have met them. The first value says which. */
async function* decisionLines(
  values: AsyncIterable<unknown>,
  agent: Agent,
  labels: readonly string[],
  { outcome }: DecisionOptions,
): AsyncGenerator<DecisionLine> {
  const iterator = values[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return
  const all = (async function* () {
    yield first.value
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  })()
  if (typeof first.value === 'object' && first.value !== null && 'steps' in first.value) {
    let number = 0
    for await (const value of all) {
      number += 1
      yield readLine(value, number)
    }
    return
  }
  requireTraceAgent(agent)
  // Not masked: the agent met what users wrote, and nothing of it is shown.
  for await (const episode of assembleEpisodes(all, noCounts())) {
    const line = lineOf(cutEpisode(episode), labels, outcome)
    if (line !== null) yield line
  }
}

function readLine(value: unknown, number: number): DecisionLine {
  const parsed = decisionLineSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues
  throw new AgentGymError({
    code: 'traces_invalid',
    message: `Episode ${number} of the decision log is invalid: ${path.join('.')}: ${message}`,
    hint: 'docs/bring-your-agent.md shows the form of a decision log.',
    data: { episode: number, field: path.join('.') },
  })
}

/** Traces can be replayed for agents of a scenario from traces alone: others observe what no trace holds. */
function requireTraceAgent({ manifest }: Agent): void {
  const { observation } = manifest.scenario
  const names = observation.type === 'dict' ? observation.entries.map(({ name }) => name) : []
  if (names.join() === 'request,calls,result') return
  throw new AgentGymError({
    code: 'estimate_refused',
    message: `No estimate: ${manifest.scenario.name} observes what these traces do not hold`,
    hint: 'Give a decision log with the observations of the scenario: docs/bring-your-agent.md shows its form.',
    data: { reason: 'observation', scenario: manifest.scenario.name },
  })
}

function lineOf(episode: LoggedEpisode, labels: readonly string[], outcome: string | undefined): DecisionLine | null {
  const tools = labels.slice(0, -1)
  const answer = labels[labels.length - 1]
  const seen: SeenCall[] = []
  const steps: DecisionLine['steps'] = []
  for (const { tool: logged, failed, result, probability } of episode.calls) {
    // As the scenario calls it: `orders.search` is its tool orders_search.
    const tool = identifier(logged, 'call')
    steps.push({ observation: observationOf(episode.request, seen, tools), action: tool, probability })
    seen.push({ tool, failed, result: failed ? '' : result })
  }
  if (episode.answered) {
    const observation = observationOf(episode.request, seen, tools)
    steps.push({ observation, action: answer, probability: episode.answerProbability })
  }
  if (steps.length === 0) return null
  const name = outcome ?? usualOutcomes.find((usual) => usual in episode.outcomes)
  return { steps, outcome: name === undefined ? null : (episode.outcomes[name] ?? null) }
}

function weighBatch(
  lines: readonly DecisionLine[],
  agent: Agent,
  labels: readonly string[],
  { sampled }: DecisionOptions,
): LoggedTrajectory[] {
  const policies = agent.remembers ? lines.map((line) => playInOrder(line, agent)) : playAtOnce(lines, agent)
  return lines.map(({ steps, outcome }, i) => {
    const last = steps.length - 1
    const decisions = steps.map((step, t): LoggedDecision => {
      const { action, probability, probabilities } = step
      return {
        features: featuresOf(step.observation),
        action: indexOf(labels, action),
        probability: probability ?? probabilities?.[action] ?? null,
        ...(probabilities ? { probabilities: labels.map((label) => probabilities[label] ?? 0) } : {}),
        policy: policyOf(policies[i][t], sampled),
        reward: (step.reward ?? 0) + (t === last ? (outcome ?? 0) : 0),
      }
    })
    const rewarded =
      (outcome !== null && outcome !== undefined) || steps.some(({ reward }) => typeof reward === 'number')
    return { decisions, rewarded }
  })
}

type Choices = readonly { probability: number }[]

function playAtOnce(lines: readonly DecisionLine[], agent: Agent): Choices[][] {
  const steps = lines.flatMap(({ steps }) => steps)
  const masks = steps.map(({ mask }) => mask ?? null)
  const decisions = agent.actBatch(
    steps.map(({ observation }) => observation),
    { masks },
  )
  let next = 0
  return lines.map(({ steps }) => steps.map(() => decisions[next++].choices ?? []))
}

function playInOrder({ steps }: DecisionLine, agent: Agent): Choices[] {
  let state: string | null = null
  return steps.map(({ observation, mask }) => {
    const decision = agent.act(observation, { mask: mask ?? null, state })
    state = decision.state
    return decision.choices ?? []
  })
}

/** The agent's probabilities, or all of it on the likeliest action. */
function policyOf(choices: Choices, sampled: boolean): Float64Array {
  const policy = Float64Array.from(choices, ({ probability }) => probability)
  if (sampled) return policy
  return policy.map((_, a) => (a === policy.indexOf(Math.max(...policy)) ? 1 : 0))
}

function indexOf(labels: readonly string[], action: string): number {
  const index = labels.indexOf(action)
  if (index >= 0) return index
  throw new AgentGymError({
    code: 'estimate_refused',
    message: `No estimate: the log has the tool ${JSON.stringify(action.slice(0, 100))}, which the agent does not know`,
    hint: `The agent knows: ${labels.join(', ')}. Remove the episodes with other tools, or train an agent that has them.`,
    data: { reason: 'tools', tool: action.slice(0, 100) },
  })
}

/** Numbers that describe an observation: its own, squeezed to -1 to 1, and its words by their hash. For the model of returns. */
function featuresOf(observation: unknown): Float64Array {
  const numbers: number[] = []
  const words = new Float64Array(WORD_FEATURES)
  const visit = (value: unknown) => {
    if (typeof value === 'number') numbers.push(value / (1 + Math.abs(value)))
    else if (typeof value === 'string') {
      for (const token of tokenize(value, { maxTokens: 64, vocabulary: WORD_FEATURES + 1 }))
        if (token > 0) words[token - 1] = 1
    } else if (Array.isArray(value) || ArrayBuffer.isView(value)) for (const item of value as unknown[]) visit(item)
    else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) visit(item)
  }
  visit(observation)
  // Lists have as many items as there are: the model sees the first numbers alone.
  const fixed = new Float64Array(NUMBER_FEATURES + WORD_FEATURES)
  fixed.set(numbers.slice(0, NUMBER_FEATURES))
  fixed.set(words, NUMBER_FEATURES)
  return fixed
}

const NUMBER_FEATURES = 32
