import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, type ScenarioPackage, scenarioPackageSchema } from '@agentgym/contract'

/** What a folder's package.json says it is. */
export async function packageKind(folder: string): Promise<'scenario' | 'agent' | null> {
  const manifest = await readJson(join(folder, 'package.json'))
  const field = isRecord(manifest) && isRecord(manifest.agentgym) ? manifest.agentgym.kind : undefined
  return field === 'scenario' || field === 'agent' ? field : null
}

/** Reads and checks a scenario's package.json; throws `manifest_invalid` with the field. */
export async function readScenarioPackage(folder: string): Promise<ScenarioPackage> {
  const path = join(folder, 'package.json')
  const parsed = scenarioPackageSchema.safeParse(await readJson(path))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const field = issue.path.join('.')
  throw new AgentGymError({
    code: 'manifest_invalid',
    message: `${path} does not describe a scenario: ${field ? `${field}: ` : ''}${issue.message}`,
    hint: 'agentgym scenario init writes a valid one to compare with.',
    data: { path, field },
  })
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
