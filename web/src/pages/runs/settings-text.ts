import type { StartRunRequest } from '@agentgym/contract'
import { invalidField } from '../market/form-amount.ts'

type Settings = NonNullable<StartRunRequest['settings']>

/**
 * Lines as `agentgym train --set` takes them: `learning_rate=0.001`, `hidden=[64,64]`, `activation=tanh`. Throws
 * `request_invalid` where one is not.
 */
export function readSettings(text: string): Settings {
  const settings: Settings = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    const at = line.indexOf('=')
    if (at < 1) throw invalidField('settings', `“${line}” is not NAME=VALUE`)
    settings[line.slice(0, at).trim()] = readValue(line.slice(at + 1).trim())
  }
  return settings
}

export function writeSettings(settings: Record<string, unknown>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}

/** What is not JSON is a word. */
function readValue(text: string): Settings[string] {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
