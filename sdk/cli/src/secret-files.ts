import { readFileSync } from 'node:fs'
import { AgentGymError } from '@agentgym/contract'

/** Settings with secrets in them. Each may be in a file that NAME_FILE names, as containers are given secrets. */
export const secretVariables = [
  'DATABASE_URL',
  'AGENTGYM_SECRET',
  'AGENTGYM_SIGNING_KEY',
  'AGENTGYM_SETUP_SECRET',
  'AGENTGYM_MAIL',
  'AGENTGYM_METRICS_TOKEN',
  'AGENTGYM_STRIPE_SECRET_KEY',
  'AGENTGYM_STRIPE_WEBHOOK_SECRET',
  'AGENTGYM_GITHUB_CLIENT_SECRET',
  'AGENTGYM_GOOGLE_CLIENT_SECRET',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AGENTGYM_TOKEN',
  'AGENTGYM_WORKER_TOKEN',
  'RUNPOD_API_KEY',
  'DSTACK_TOKEN',
  'AGENTGYM_PASSWORD',
] as const

/**
 * Replaces each NAME_FILE in `environment` by NAME with the file's text, without the line break at its end. Throws
 * `config_invalid` if both are set, or the file cannot be read or is empty.
 */
export function readSecretFiles(environment: Record<string, string | undefined>): void {
  for (const name of secretVariables) {
    const field = `${name}_FILE`
    const file = environment[field]
    if (!file) continue
    if (environment[name]) throw invalid(field, `Both ${name} and ${field} are set`, 'Unset one of them.')
    environment[name] = readSecret(field, file)
    // Processes that this one starts inherit the value.
    delete environment[field]
  }
}

function readSecret(field: string, file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw invalid(field, `${field} is ${file}, which cannot be read (${code})`, 'Name a file that this user may read.')
  }
  if (text === '') throw invalid(field, `${field} is ${file}, which is empty`, 'Write the secret into the file.')
  return text
}

function invalid(field: string, message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field } })
}
