import { AgentGymError } from './agent-gym-error.ts'
import { nearestName } from './nearest-name.ts'
import {
  algorithmSettings,
  type TrainingAlgorithm,
  type TrainingPlan,
  trainingAlgorithms,
} from './training-settings.ts'

export type TrainingPlanRequest = {
  algorithm?: string
  steps?: number
  /** Settings by their names or by those that other libraries give them; they win over `steps`. */
  settings?: Record<string, unknown>
}

/**
 * How a run trains: defaults, then the scenario's `training` block, then what was asked for. Whoever accepts a run and
 * whoever plays it call this, so both refuse the same. Throws `config_invalid` with `data.field`; the algorithm is
 * `algorithm`.
 *
 * Flat settings of the block hold for every algorithm that knows them. Where the request names another algorithm than
 * the block, those that only the block's own knows are left out. A key named after an algorithm holds settings for that
 * algorithm alone: `{ "algorithm": "ppo", "gamma": 0.98, "grpo": { "group_size": 16 } }`.
 */
export function resolveTrainingPlan(
  training: Record<string, unknown>,
  request: TrainingPlanRequest = {},
): TrainingPlan {
  const { algorithm: declared = 'ppo', ...block } = training
  const own = knownAlgorithm(declared)
  const algorithm = request.algorithm === undefined ? own : knownAlgorithm(request.algorithm)
  const merged = new Map<string, unknown>()
  const take = (settings: Record<string, unknown>, place: string) => {
    for (const [key, value] of Object.entries(settings)) {
      const name = canonicalName(algorithm, key)
      if (name === null) throw unknownSetting(algorithm, key, place)
      merged.set(name, value)
    }
  }
  const { flat, ofAlgorithm } = splitBlock(block, algorithm)
  const usable = Object.entries(flat).filter(
    ([key]) => algorithm === own || canonicalName(algorithm, key) !== null || canonicalName(own, key) === null,
  )
  take(Object.fromEntries(usable), 'agentgym.training')
  take(ofAlgorithm, `agentgym.training.${algorithm}`)
  if (request.steps !== undefined) merged.set('steps', request.steps)
  take(request.settings ?? {}, 'asked for')
  return validated(algorithm, merged)
}

/** Flat settings, and those in the chosen algorithm's own block. */
function splitBlock(block: Record<string, unknown>, algorithm: TrainingAlgorithm) {
  const flat: Record<string, unknown> = { ...block }
  for (const name of trainingAlgorithms) {
    if (!Object.hasOwn(flat, name)) continue
    if (!isRecord(flat[name])) {
      throw invalid(name, `agentgym.training.${name} is ${quote(flat[name])}`, `Give an object of settings of ${name}.`)
    }
    delete flat[name]
  }
  const ofAlgorithm = Object.hasOwn(block, algorithm) ? (block[algorithm] as Record<string, unknown>) : {}
  return { flat, ofAlgorithm }
}

function knownAlgorithm(algorithm: unknown): TrainingAlgorithm {
  const known = trainingAlgorithms.find((name) => name === algorithm)
  if (known !== undefined) return known
  const hint = `Use one of: ${trainingAlgorithms.join(', ')}.`
  throw invalid('algorithm', `algorithm ${quote(algorithm)} is not known`, hint)
}

function namesOf(algorithm: TrainingAlgorithm): string[] {
  return Object.keys(algorithmSettings[algorithm].schema.shape)
}

function canonicalName(algorithm: TrainingAlgorithm, key: string): string | null {
  const { aliases } = algorithmSettings[algorithm]
  const name = Object.hasOwn(aliases, key) ? aliases[key] : key
  return namesOf(algorithm).includes(name) ? name : null
}

function unknownSetting(algorithm: TrainingAlgorithm, key: string, place: string): AgentGymError {
  const names = namesOf(algorithm)
  const known = `Known settings: ${names.join(', ')}.`
  const message = `setting ${quote(key)} (${place}) is not known to ${algorithm}`
  const other = trainingAlgorithms.find((name) => canonicalName(name, key) !== null)
  if (other !== undefined) return invalid(key, message, `It is a setting of ${other}. ${known}`)
  const { aliases } = algorithmSettings[algorithm]
  const nearest = nearestName(key, [...names, ...Object.keys(aliases)])
  if (nearest === undefined) return invalid(key, message, known)
  const suggestion = aliases[nearest] ?? nearest
  return invalid(key, message, `Did you mean ${suggestion}? ${known}`, { suggestion })
}

function validated(algorithm: TrainingAlgorithm, merged: Map<string, unknown>): TrainingPlan {
  const { schema } = algorithmSettings[algorithm]
  const parsed = schema.safeParse(Object.fromEntries(merged))
  if (parsed.success) return { algorithm, settings: parsed.data } as TrainingPlan
  const issue = parsed.error.issues[0]
  const field = String(issue.path[0])
  const defaults = schema.parse({}) as Record<string, unknown>
  const given = merged.has(field) ? merged.get(field) : defaults[field]
  const hint = `Give a value such as the default, ${field}=${JSON.stringify(defaults[field])}.`
  throw invalid(field, `setting ${field} is ${quote(given)}: ${issue.message}`, hint)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(field: string, message: string, hint: string, data: Record<string, unknown> = {}): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field, ...data } })
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100)
}
