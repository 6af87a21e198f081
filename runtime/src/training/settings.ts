import { availableParallelism } from 'node:os'
import {
  AgentGymError,
  type PpoSettings,
  ppoSettingsSchema,
  type ScenarioPackage,
  settingAliases,
} from '@agentgym/contract'
import { closest, distance } from 'fastest-levenshtein'

export type SettingsRequest = {
  algorithm?: string
  steps?: number
  /** Raw `--set key=value` pairs. */
  set?: Record<string, string>
}

const algorithms = ['ppo'] as const
const names = Object.keys(ppoSettingsSchema.shape) as (keyof PpoSettings)[]

/**
 * The settings of a run: defaults, then the scenario's own `training` block, then what the user asked for.
 * Unknown names, wrong types and values out of range throw `config_invalid` with the field and the nearest valid name.
 */
export function resolveSettings(scenario: { package: ScenarioPackage }, request: SettingsRequest = {}): PpoSettings {
  const { algorithm: declared, ...training } = scenario.package.agentgym.training
  const algorithm = request.algorithm ?? declared ?? 'ppo'
  if (!algorithms.some((known) => known === algorithm)) {
    throw invalid('algorithm', `algorithm ${quote(algorithm)} is not known`, `Use one of: ${algorithms.join(', ')}.`)
  }
  const merged: Partial<Record<keyof PpoSettings, unknown>> = {}
  for (const [key, value] of Object.entries(training)) merged[canonicalName(key, 'agentgym.training')] = value
  if (request.steps !== undefined) merged.steps = request.steps
  for (const [key, text] of Object.entries(request.set ?? {})) {
    const name = canonicalName(key, '--set')
    merged[name] = parseSetting(name, text)
  }
  const parsed = ppoSettingsSchema.safeParse(merged)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const field = String(issue.path[0])
    const given = merged[field as keyof PpoSettings]
    throw invalid(
      field,
      `setting ${field} is ${quote(given)}: ${issue.message}`,
      describeSetting(field as keyof PpoSettings),
    )
  }
  return resolveAutomatic(parsed.data)
}

/** Turns "0: choose for me" into the numbers that are used, so that a package records what really ran. */
function resolveAutomatic(settings: PpoSettings): PpoSettings {
  const cores = availableParallelism()
  const workers = settings.rollout_workers || Math.max(1, Math.min(cores, Math.floor(settings.environments / 64)))
  const threads = settings.learner_threads || (settings.minibatch_size >= 2048 ? Math.min(cores, 8) : 1)
  return { ...settings, rollout_workers: Math.min(workers, settings.environments), learner_threads: threads }
}

function canonicalName(key: string, where: string): keyof PpoSettings {
  const name = settingAliases[key] ?? key
  if (names.includes(name as keyof PpoSettings)) return name as keyof PpoSettings
  const suggestion = suggest(key)
  const hint = `Known settings: ${names.join(', ')}.`
  throw invalid(
    key,
    `setting ${quote(key)} (${where}) is not known`,
    suggestion === null ? hint : `Did you mean ${suggestion}? ${hint}`,
    suggestion === null ? {} : { suggestion },
  )
}

/** The nearest name, if it is near: half of the letters right. */
function suggest(key: string): string | null {
  const typed = key.toLowerCase().replaceAll('-', '_')
  const nearest = closest(typed, [...names, ...Object.keys(settingAliases)])
  if (distance(typed, nearest) > Math.max(typed.length, nearest.length) / 2) return null
  return settingAliases[nearest] ?? nearest
}

/** `64,64` and `[64,64]` are lists; `null`, `true`, numbers and words are what they look like. */
function parseSetting(name: keyof PpoSettings, text: string): unknown {
  const trimmed = text.trim()
  if (name === 'hidden' && /^\d+(\s*,\s*\d+)*$/.test(trimmed)) return trimmed.split(',').map(Number)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed)
  try {
    return JSON.parse(trimmed)
  } catch {
    return trimmed
  }
}

function describeSetting(name: keyof PpoSettings): string {
  const fallback = ppoSettingsSchema.shape[name].safeParse(undefined)
  return `Give a value such as the default, ${name}=${JSON.stringify(fallback.data)}.`
}

function invalid(field: string, message: string, hint: string, data: Record<string, unknown> = {}): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field, ...data } })
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 100)
}
