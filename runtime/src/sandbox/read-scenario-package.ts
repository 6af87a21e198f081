import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  AgentGymError,
  nearestName,
  type ScenarioPackage,
  scenarioManifestSchema,
  scenarioPackageSchema,
} from '@agentgym/contract'
import type { z } from 'zod'

/** How to fix each field, by its path in package.json. */
const hints: Record<string, string> = {
  name: 'Give the package an npm name in lower case, such as "@you/cart-pole".',
  version: 'Give the package a version such as "1.0.0".',
  agentgym:
    'Add "agentgym": { "kind": "scenario", "entry": "src/index.ts", "title", "summary", "category", "difficulty" }.',
  'agentgym.kind': 'A scenario has "kind": "scenario".',
  'agentgym.entry': 'Name the file that exports the scenario, such as "src/index.ts".',
  'agentgym.title': 'Give a title of at most 80 characters.',
  'agentgym.summary': 'Describe in one sentence, of at most 280 characters, what the agent learns.',
  'agentgym.category': 'Give a category such as "control" or "tool-use".',
  'agentgym.difficulty': 'Use one of beginner, intermediate, advanced, expert.',
  'agentgym.success': 'Map a metric to the lowest value that counts as solved: { "return_mean": 475 }.',
}

/** What a folder's package.json says it contains; null where it is neither, or cannot be read. */
export function packageKind(folder: string): 'scenario' | 'agent' | null {
  try {
    const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const kind: unknown = manifest.agentgym.kind
    return kind === 'scenario' || kind === 'agent' ? kind : null
  } catch {
    return null
  }
}

/** Reads and checks a scenario folder's package.json. Throws `file_not_found` or `manifest_invalid`. */
export function readScenarioPackage(folder: string): ScenarioPackage {
  if (!existsSync(folder)) {
    throw new AgentGymError({
      code: 'file_not_found',
      message: `There is no folder ${folder}.`,
      data: { path: folder },
    })
  }
  const file = path.join(folder, 'package.json')
  if (!existsSync(file)) {
    const hint = 'Start a scenario with `agentgym scenario init`.'
    throw manifestError(file, 'package.json', 'is missing', hint)
  }
  const parsed = scenarioPackageSchema.safeParse(parseJson(file))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const { field, what, hint } = explainIssue(issue)
  throw manifestError(file, field, what, hint)
}

function parseJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw manifestError(file, 'package.json', `is not valid JSON: ${reason}`, 'Fix the JSON at the position named.')
  }
}

function explainIssue(issue: z.core.$ZodIssue): { field: string; what: string; hint: string | undefined } {
  const parent = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]
    return { field: parent === '' ? key : `${parent}.${key}`, what: 'is not a known field', hint: suggest(key) }
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  const what = missing && issue.message.includes('undefined') ? 'is missing' : `is invalid: ${issue.message}`
  return { field: parent, what, hint: hints[parent] }
}

function suggest(key: string): string {
  const known = Object.keys(scenarioManifestSchema.shape)
  const nearest = nearestName(key, known)
  return nearest ? `Did you mean "${nearest}"?` : `Known fields: ${known.join(', ')}.`
}

function manifestError(file: string, field: string, what: string, hint: string | undefined): AgentGymError {
  const message = field === 'package.json' ? `${file} ${what}.` : `${file}: the field "${field}" ${what}.`
  return new AgentGymError({ code: 'manifest_invalid', message, hint, data: { path: file, field } })
}
