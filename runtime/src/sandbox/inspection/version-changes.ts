import type { SuccessCriteria } from '@agentgym/contract'
import { MAX_METRICS } from '@agentgym/scenario/engine'
import { type BuiltScenario, identityOf } from '../build-scenario.ts'
import type { ScenarioDescription } from '../vector-environment.ts'
import { RECORDED_ENVIRONMENTS, type RecordedRun, type Recording } from './record-trajectories.ts'
import { columnName } from './seen-columns.ts'

/** What a version must be called at least: semantic versioning of behavior. */
export const changeLevels = ['none', 'patch', 'minor', 'major'] as const
export type ChangeLevel = (typeof changeLevels)[number]

export type Change = {
  kind: 'space' | 'setting' | 'criterion' | 'metric' | 'observation' | 'mask' | 'reward' | 'end'
  message: string
  /** Of trajectories: where it shows first. */
  at?: { split: 'train' | 'eval'; seed: number; environment: number; step: number }
  /** Of how many compared runs. */
  runs?: number
}

export type VersionChanges = {
  old: { name: string; version: string; hash: string }
  new: { name: string; version: string; hash: string }
  changes: Change[]
  /** Steps of one environment that were compared. */
  compared_steps: number
  /** The least change of the version number for these changes, and the one that was made. */
  needed: ChangeLevel
  declared: ChangeLevel
  ok: boolean
}

type Side = { scenario: BuiltScenario; recording: Recording }

/**
 * Compares what two versions show under the same seeds and actions. A patch changes nothing that an agent sees; a minor
 * version keeps the spaces; a major one may change everything, as may a minor one before 1.0.0.
 */
export function compareVersions(before: Side, after: Side): VersionChanges {
  const [one, other] = [before, after].map((side) => JSON.parse(side.recording.description) as ScenarioDescription)
  const spaces = (['observation', 'action'] as const).flatMap((space) => differences(one[space], other[space], space))
  const changes: Change[] = spaces.map((message) => ({ kind: 'space', message }))
  const settings = ({ maxSteps, tasks, levels, memory, masked }: ScenarioDescription) => ({
    ...{ maxSteps, tasks, memory: memory === true, actionMask: masked, levels: levels?.map(({ name }) => name) },
  })
  for (const message of differences(settings(one), settings(other), '')) changes.push({ kind: 'setting', message })
  const criteria = ({ scenario }: Side): SuccessCriteria => scenario.package.agentgym.success
  for (const message of differences(criteria(before), criteria(after), 'success')) {
    changes.push({ kind: 'criterion', message })
  }
  let compared = 0
  // Other spaces have other rows: nothing of them can be compared.
  if (spaces.length === 0) {
    const runs = before.recording.runs.map((run, index) => compareRun(run, after.recording.runs[index], one))
    compared = runs.reduce((sum, { steps }) => sum + steps * RECORDED_ENVIRONMENTS, 0)
    changes.push(...summarize(runs.flatMap((run) => run.changes)))
  }
  const names = [before, after].map(({ recording }) => recording.metricNames)
  changes.push(...compareMetrics(before.recording, after.recording, names))
  const needed = spaces.length > 0 ? 'major' : changes.length > 0 ? 'minor' : 'patch'
  const declared = changeOf(before.scenario.package.version, after.scenario.package.version)
  const unstable = declared === 'minor' && before.scenario.package.version.startsWith('0.')
  const ok = changes.length === 0 || unstable || changeLevels.indexOf(declared) >= changeLevels.indexOf(needed)
  return {
    ...{ old: identityOf(before.scenario), new: identityOf(after.scenario), changes, compared_steps: compared },
    ...{ needed: changes.length === 0 ? 'none' : needed, declared, ok },
  }
}

/** Which part of the version number differs. */
export function changeOf(before: string, after: string): ChangeLevel {
  const [old, fresh] = [before, after].map((version) => version.split(/[-+]/)[0].split('.').map(Number))
  const at = old.findIndex((number, index) => number !== fresh[index])
  if (at < 0) return before === after ? 'none' : 'patch'
  return (['major', 'minor', 'patch'] as const)[Math.min(at, 2)]
}

const LONGEST = 80

/** Where two JSON values differ, in words, such as `observation.shape: [4] → [5]`. */
function differences(one: unknown, other: unknown, path: string): string[] {
  const [before, after] = [JSON.stringify(one), JSON.stringify(other)]
  if (before === after) return []
  if (isRecord(one) && isRecord(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...keys].flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`))
  }
  return [`${path}: ${shortened(before)} → ${shortened(after)}`]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shortened(json: string | undefined): string {
  if (json === undefined) return 'absent'
  return json.length > LONGEST ? `${json.slice(0, LONGEST)}…` : json
}

function compareRun(
  one: RecordedRun,
  other: RecordedRun,
  description: ScenarioDescription,
): { steps: number; changes: Change[] } {
  const steps = Math.min(one.rewards.length, other.rewards.length) / RECORDED_ENVIRONMENTS
  const { split, seed } = one
  const changes: Change[] = []
  const note = (kind: Change['kind'], index: number, first: number, message: string) => {
    const at = {
      split,
      seed,
      environment: index % RECORDED_ENVIRONMENTS,
      step: Math.floor(index / RECORDED_ENVIRONMENTS),
    }
    changes.push({ kind, message, at: { ...at, step: at.step + first } })
  }
  const rows = steps * RECORDED_ENVIRONMENTS
  const width = description.sizes.observation
  const shown = parted(one.observations, other.observations, (rows + RECORDED_ENVIRONMENTS) * width)
  if (shown >= 0) {
    const column = columnName(description, shown % width)
    const values = `${one.observations[shown]} → ${other.observations[shown]}`
    note('observation', Math.floor(shown / width), 0, `${column}: ${values}`)
  }
  const mask = parted(one.masks, other.masks, rows + RECORDED_ENVIRONMENTS)
  if (mask >= 0) note('mask', mask, 0, 'other actions are legal, or a text reads differently')
  const reward = parted(one.rewards, other.rewards, rows)
  if (reward >= 0) note('reward', reward, 1, `reward: ${one.rewards[reward]} → ${other.rewards[reward]}`)
  const end = parted(one.flags, other.flags, rows)
  if (end >= 0) note('end', end, 1, `the step ${endName(one.flags[end])} → ${endName(other.flags[end])}`)
  return { steps, changes }
}

function endName(flags: number): string {
  return ['goes on', 'terminates', 'is truncated', 'terminates at the limit'][flags & 3]
}

/** Metrics by their names: their order means nothing. */
function compareMetrics(one: Recording, other: Recording, [before, after]: string[][]): Change[] {
  const gone = before.filter((name) => !after.includes(name))
  const added = after.filter((name) => !before.includes(name))
  const changes: Change[] = [
    ...gone.map((name): Change => ({ kind: 'metric', message: `metric ${name} is no longer reported` })),
    ...added.map((name): Change => ({ kind: 'metric', message: `metric ${name} is new` })),
  ]
  for (const name of before.filter((kept) => after.includes(kept))) {
    const [from, to] = [before.indexOf(name), after.indexOf(name)]
    const found = one.runs.flatMap((run, index) => {
      const rows = Math.min(run.rewards.length, other.runs[index].rewards.length)
      for (let row = 0; row < rows; row++) {
        const values = [run.metrics[row * MAX_METRICS + from], other.runs[index].metrics[row * MAX_METRICS + to]]
        if (!Object.is(values[0], values[1])) return [{ run, row, values }]
      }
      return []
    })
    if (found.length === 0) continue
    const [{ run, row, values }] = found
    const at = { split: run.split, seed: run.seed, environment: row % RECORDED_ENVIRONMENTS }
    changes.push({
      ...{ kind: 'metric', message: `metric ${name}: ${values[0]} → ${values[1]}`, runs: found.length },
      at: { ...at, step: Math.floor(row / RECORDED_ENVIRONMENTS) + 1 },
    })
  }
  return changes
}

/** First index below `length` at which two arrays differ, NaN being equal to itself; -1 where there is none. */
function parted(one: ArrayLike<number>, other: ArrayLike<number>, length: number): number {
  for (let i = 0; i < length; i++) if (!Object.is(one[i], other[i])) return i
  return -1
}

/** One change a kind: the earliest, with the number of runs that show it. */
function summarize(changes: readonly Change[]): Change[] {
  const kinds = [...new Set(changes.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const alike = changes.filter((change) => change.kind === kind)
    const [first] = alike.toSorted((a, b) => (a.at?.step ?? 0) - (b.at?.step ?? 0))
    return { ...first, runs: alike.length }
  })
}

/** `reward: 1 → 2 (train, seed 1, environment 0, step 3; 2 of 4 runs)`. */
export function describeChange({ message, at, runs }: Change): string {
  if (at === undefined) return message
  const { split, seed, environment, step } = at
  return `${message} (${split}, seed ${seed}, environment ${environment}, step ${step}; ${runs ?? 1} of 4 runs)`
}
