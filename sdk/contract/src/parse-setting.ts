import { AgentGymError } from './agent-gym-error.ts'
import type { StartRunRequest } from './api/runs.ts'

type Settings = NonNullable<StartRunRequest['settings']>
export type SettingValue = Settings[string]

/**
 * A training setting as people type it, `learning_rate=0.001`: its name, and the text of its value. The value may hold
 * equals signs. Throws `config_invalid` where there is no name or no `=`.
 */
export function parseSetting(text: string): { name: string; text: string } {
  const at = text.indexOf('=')
  const name = text.slice(0, Math.max(at, 0)).trim()
  if (name !== '') return { name, text: text.slice(at + 1).trim() }
  const shown = text.slice(0, 100)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `${JSON.stringify(shown)} is not a setting`,
    hint: 'Write it as NAME=VALUE, such as learning_rate=0.001.',
    data: { field: shown },
  })
}

/** Settings as people type them, by name; the last of a name wins. Throws as `parseSetting` does. */
export function parseSettings(texts: Iterable<string>): Settings {
  // Without a prototype, so that a name such as __proto__ is a name like any other.
  const settings: Settings = Object.create(null)
  for (const one of texts) {
    const { name, text } = parseSetting(one)
    settings[name] = settingValue(name, text)
  }
  return settings
}

/**
 * The value of a setting from its text: `0.001`, `.001` and `1e-3` are numbers, `64,64` and `[64,64]` are lists of layer
 * sizes, `true` and `null` what they say, everything else a word. Whether it fits is for `resolveTrainingPlan` to say.
 */
export function settingValue(name: string, text: string): SettingValue {
  const trimmed = text.trim()
  if (name === 'hidden' && /^\d+(\s*,\s*\d+)*$/.test(trimmed)) return trimmed.split(',').map(Number)
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed)
  try {
    return JSON.parse(trimmed)
  } catch {
    return trimmed
  }
}
