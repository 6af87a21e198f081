import type { Trajectory } from './play-episode.ts'

/** Of any scenario. */
type AnyTrajectory = Omit<Trajectory, 'observations'> & { observations: readonly unknown[] }

/** Node's, as far as it is used; an author's folder has no types of Node. */
declare const process: {
  env: Record<string, string | undefined>
  getBuiltinModule(name: 'node:fs'): {
    existsSync(path: string): boolean
    mkdirSync(path: string, options: { recursive: true }): void
    readFileSync(path: string, encoding: 'utf8'): string
    writeFileSync(path: string, text: string): void
  }
}

/** Set by `agentgym scenario test --update`. */
const UPDATE = 'AGENTGYM_UPDATE_GOLDEN'

/**
 * Compares a trajectory with the one that `file` recorded (a path from the scenario's folder, such as `golden.json`), bit for
 * bit, and throws with the first step and field that differ. `agentgym scenario test --update` records it; commit the file.
 */
export function expectGolden(trajectory: AnyTrajectory, file: string): void {
  const { existsSync, mkdirSync, readFileSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const text = goldenText(trajectory)
  if (process.env[UPDATE] === '1') {
    if (file.includes('/')) mkdirSync(file.slice(0, file.lastIndexOf('/')), { recursive: true })
    writeFileSync(file, text)
    return
  }
  const record = '`agentgym scenario test --update`'
  if (!existsSync(file)) throw new Error(`${file} does not exist. Record it with ${record}, and commit it.`)
  let recorded: Golden
  try {
    recorded = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new Error(`${file} is not JSON. Record it again with ${record}.`)
  }
  // As it would be read back: -0 is 0 in JSON.
  const different = firstDifference(recorded, JSON.parse(text))
  if (different === undefined) return
  throw new Error(`${file}: ${different}. If the change is meant, record it again with ${record}.`)
}

type Golden = {
  seed: number
  task: unknown
  level?: number
  steps: Record<string, unknown>[]
  end: Record<string, unknown>
}

/** One step a line, so that version control shows which steps have changed. */
function goldenText(trajectory: AnyTrajectory): string {
  const { seed, task, level, observations, masks, actions, rewards, terminated, truncated, metrics } = trajectory
  const steps = actions.map((action, i) => {
    const mask = i < masks.length ? { mask: masks[i] } : {}
    return JSON.stringify({ observation: observations[i], ...mask, action, reward: rewards[i] })
  })
  const last = { observation: observations[actions.length], terminated, truncated, return: trajectory.return, metrics }
  const lines = [
    `  "seed": ${seed},`,
    `  "task": ${JSON.stringify(task)},`,
    ...(level === undefined ? [] : [`  "level": ${level},`]),
    `  "steps": [${steps.map((step) => `\n    ${step}`).join()}\n  ],`,
    `  "end": ${JSON.stringify(last)}`,
  ]
  return `{\n${lines.join('\n')}\n}\n`
}

function firstDifference(recorded: Golden, now: Golden): string | undefined {
  const opening = differenceOf(
    { seed: recorded.seed, task: recorded.task, level: recorded.level },
    { seed: now.seed, task: now.task, level: now.level },
    'the episode',
  )
  if (opening !== undefined) return opening
  const steps = Array.isArray(recorded.steps) ? recorded.steps : []
  for (let i = 0; i < Math.min(steps.length, now.steps.length); i += 1) {
    const found = differenceOf(steps[i], now.steps[i], `step ${i + 1}`)
    if (found !== undefined) return found
  }
  if (steps.length !== now.steps.length) {
    return `the episode has ${now.steps.length} steps, and had ${steps.length} when it was recorded`
  }
  return differenceOf(recorded.end, now.end, 'the end')
}

function differenceOf(recorded: unknown, now: unknown, place: string): string | undefined {
  const found = differentAt(recorded, now, '')
  if (found === undefined) return undefined
  const { path, before, after } = found
  return `${place} differs first in ${path}: recorded ${shown(before)}, now ${shown(after)}`
}

type Difference = { path: string; before: unknown; after: unknown }

function differentAt(before: unknown, after: unknown, path: string): Difference | undefined {
  if (before === after) return undefined
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) {
    return { path, before, after }
  }
  if (Array.isArray(before) !== Array.isArray(after)) return { path, before, after }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const key of keys) {
    const inside = Array.isArray(before) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
    const entry = (value: object) => (value as Record<string, unknown>)[key]
    const found = differentAt(entry(before), entry(after), inside)
    if (found !== undefined) return found
  }
  return undefined
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
