import type { WorkerPlace } from '../../core/queue/worker-place.ts'

/*
 * Combines the runs of an evaluation. A single run proves little: machines fail, and differ in the last bits. So the
 * decision is a pure function of all recorded runs, by the rules in README.md.
 */

/** Names and versions that affect an evaluation's last bits, as reported by workers and agent.json. */
export type Runtime = Readonly<Record<string, string>>

/** The result of one worker. `result` is a digest of everything that equal machines must reproduce. */
export type Outcome =
  /** The claim of agent.json was reproduced bit for bit. */
  | { kind: 'reproduced'; result: string }
  /** The result differs from the claim. */
  | { kind: 'differs'; result: string; message: string }
  /** Two processes of the worker got different results. */
  | { kind: 'nondeterministic'; message: string }
  /** The model fails its checks. */
  | { kind: 'refused'; message: string }
  /** No result: a time limit, a lost lease, or an error. */
  | { kind: 'broken'; message: string }

/** A worker's run. Only independent workers (`areIndependent`) confirm each other. */
export type RecordedRun = WorkerPlace & {
  worker: string
  runtime: Runtime
  outcome: Outcome
}

export type Policy = {
  /** Number of workers that must agree; `auto`: two if another is connected, else one. */
  workers: 'auto' | 1 | 2
  /** Whether a worker is connected that is independent of all previous ones. */
  another: boolean
  /** Whether the version is already published. Otherwise, a model that fails its checks is rejected. */
  published: boolean
  /** Runtime signatures for which the claim holds, or is claimed to: those of agent.json and of earlier verdicts. */
  references: readonly Runtime[]
}

export type Decision =
  /** Another independent worker should run it. */
  | { kind: 'run_again' }
  | {
      kind: 'decided'
      state: 'verified' | 'mismatch' | 'failed' | 'inconclusive'
      /** The reason; empty if verified. */
      message: string
      /** The runs that support the verdict. */
      agreed: readonly RecordedRun[]
      /** Runs that two or more independent workers of the same signature contradict. */
      outvoted: readonly RecordedRun[]
      /** Whether the scenario gives different results for the same actions. */
      nondeterministic: boolean
    }

/** Maximum number of runs per evaluation. */
export const maxRuns = 4

/** Decides, or requests another run. Buyers are refunded if and only if the state is `mismatch`. */
export function decideEvaluation(all: readonly RecordedRun[], policy: Policy): Decision {
  const { outvoted, kept } = splitOutvoted(all)
  const decided = (
    state: Extract<Decision, { kind: 'decided' }>['state'],
    message: string,
    { agreed = [] as readonly RecordedRun[], nondeterministic = false } = {},
  ): Decision => ({ kind: 'decided', state, message, agreed, outvoted, nondeterministic })
  const refused = all.find(({ outcome }) => outcome.kind === 'refused')
  if (refused !== undefined && !policy.published) return decided('failed', messageOf(refused), { agreed: [refused] })
  const wanted = policy.workers === 'auto' ? (policy.another ? 2 : 1) : policy.workers

  const agreed = agreeing(kept, wanted)
  if (agreed !== undefined) return decided('verified', '', { agreed })
  const unstable = ofKind(all, 'nondeterministic')
  if (unstable.length > 0 && countIndependent(unstable) >= wanted)
    return decided('inconclusive', messageOf(unstable[0]), { agreed: unstable, nondeterministic: true })
  const contradicting = unstable.length === 0 ? contradictingTwice(kept) : []
  const confirmed = contradicting.find(([{ runtime }]) => policy.references.some((known) => isLike(known, runtime)))
  if (confirmed !== undefined) return decided('mismatch', messageOf(confirmed[0]), { agreed: confirmed })
  if (contradicting.length === 0 && policy.another && all.length < maxRuns) return { kind: 'run_again' }
  return decided('inconclusive', inconclusive(all, contradicting.length > 0))
}

/**
 * Enough runs that reproduced the claim and agree on the held-out episodes. If other runs contradict them, two with the
 * same signature are required.
 */
function agreeing(kept: readonly RecordedRun[], wanted: number): readonly RecordedRun[] | undefined {
  const reproduced = ofKind(kept, 'reproduced')
  const contested = ofKind(kept, 'differs').length > 0
  const groups = [...byKey(reproduced, (run) => resultOf(run))]
  if (contested || groups.length > 1) {
    const equal = [...byKey(reproduced, sameResultKey)].filter((group) => countIndependent(group) >= 2)
    return equal.length === 1 ? equal[0] : undefined
  }
  return groups.find((group) => countIndependent(group) >= wanted)
}

/**
 * Groups of two or more independent runs with the same signature that agree on a result other than the claim. None if
 * any run reproduced the claim, or if the results disagree with each other.
 */
function contradictingTwice(kept: readonly RecordedRun[]): (readonly RecordedRun[])[] {
  const differing = ofKind(kept, 'differs')
  if (ofKind(kept, 'reproduced').length > 0 || new Set(differing.map(resultOf)).size > 1) return []
  return [...byKey(differing, sameResultKey)].filter((group) => countIndependent(group) >= 2)
}

/** A run is outvoted if two or more independent runs of its signature agree on another result, and fewer on its own. */
function splitOutvoted(all: readonly RecordedRun[]): { outvoted: RecordedRun[]; kept: RecordedRun[] } {
  const outvoted = new Set<RecordedRun>()
  for (const equals of byKey(withResult(all), signatureKey)) {
    const votes = [...byKey(equals, resultOf)].map((group) => ({ group, count: countIndependent(group) }))
    const most = Math.max(...votes.map(({ count }) => count))
    const winners = votes.filter(({ count }) => count === most)
    if (most < 2 || winners.length > 1) continue
    for (const { group } of votes) if (group !== winners[0].group) for (const run of group) outvoted.add(run)
  }
  return { outvoted: [...outvoted], kept: all.filter((run) => !outvoted.has(run)) }
}

function inconclusive(all: readonly RecordedRun[], otherRuntime: boolean): string {
  const [differing] = ofKind(all, 'differs')
  if (otherRuntime)
    return `${messageOf(differing)} The workers ran other versions, or another processor, than the claim was made with, so this decides nothing.`
  if (differing !== undefined)
    return ofKind(all, 'reproduced').length > 0
      ? `Workers disagree on the result. One of them: ${messageOf(differing)}`
      : `${messageOf(differing)} No second worker of the same runtime signature has confirmed it.`
  const other = all.find(({ outcome }) => outcome.kind !== 'reproduced')
  if (other !== undefined) return messageOf(other)
  return all.length === 0
    ? 'No worker reported a result.'
    : new Set(all.map(resultOf)).size > 1
      ? 'Workers disagree on the held-out episodes.'
      : 'One worker reproduced the claim; this server requires two that agree.'
}

/** The maximum number of mutually independent runs among these. */
function countIndependent(runs: readonly RecordedRun[]): number {
  let count = 0
  for (const owned of byKey(runs, ({ owner }) => owner)) {
    const machines = new Set(owned.map(({ machine }) => machine).filter((machine) => machine !== null))
    count += Math.max(1, machines.size)
  }
  return count
}

/** Workers with equal keys must get identical bits. Undefined if a worker does not report its processor. */
export function signatureOf(runtime: Runtime): string | undefined {
  if (runtime.arch === undefined || runtime.instructions === undefined) return undefined
  return JSON.stringify(Object.entries(runtime).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A worker of unknown signature equals no other. */
function signatureKey({ runtime, owner, machine, worker }: RecordedRun): string {
  return signatureOf(runtime) ?? JSON.stringify([owner, machine, worker])
}

/** Whether all values that both report are equal. */
function isLike(a: Runtime, b: Runtime): boolean {
  return Object.keys(a).every((name) => b[name] === undefined || a[name] === b[name])
}

function sameResultKey(run: RecordedRun): string {
  return `${signatureKey(run)}\n${resultOf(run)}`
}

function withResult(runs: readonly RecordedRun[]): readonly RecordedRun[] {
  return runs.filter(({ outcome }) => outcome.kind === 'reproduced' || outcome.kind === 'differs')
}

function ofKind(runs: readonly RecordedRun[], kind: Outcome['kind']): readonly RecordedRun[] {
  return runs.filter(({ outcome }) => outcome.kind === kind)
}

function resultOf({ outcome }: RecordedRun): string {
  return 'result' in outcome ? outcome.result : ''
}

function messageOf({ outcome }: RecordedRun): string {
  return 'message' in outcome ? outcome.message : ''
}

function byKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): Iterable<readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups.values()
}
