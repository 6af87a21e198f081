import type { WorkerPlace } from '../../core/queue/worker-place.ts'

/*
 * What the runs of an evaluation mean together. One run proves little: machines fail, and differ in the last bits. So the
 * decision is a pure function of all runs on record, and README.md states its rules.
 */

/** Names and versions on which an evaluation's last bits depend, as workers and agent.json state them. */
export type Runtime = Readonly<Record<string, string>>

/** What one worker found. `result` is a digest of everything that equal machines must find alike. */
export type Outcome =
  /** The claim of agent.json came out, bit for bit. */
  | { kind: 'reproduced'; result: string }
  /** Something else came out. */
  | { kind: 'differs'; result: string; message: string }
  /** The worker itself got two results, in two processes. */
  | { kind: 'nondeterministic'; message: string }
  /** The model fails its checks. */
  | { kind: 'refused'; message: string }
  /** Nothing came out: a time limit, a lost lease, an error. */
  | { kind: 'broken'; message: string }

/** A worker's run. `areIndependent` says which workers confirm each other. */
export type RecordedRun = WorkerPlace & {
  worker: string
  runtime: Runtime
  outcome: Outcome
}

export type Policy = {
  /** Workers that must agree; `auto`: two if there is another, else one. */
  workers: 'auto' | 1 | 2
  /** Whether a worker is there that is independent of all that ran. */
  another: boolean
  /** Whether the version is published already. Before, a model that fails its checks is rejected. */
  published: boolean
  /** Signatures under which the claim is known to hold, or is said to: that of agent.json and those of earlier verdicts. */
  references: readonly Runtime[]
}

export type Decision =
  /** Another independent worker should run it. */
  | { kind: 'run_again' }
  | {
      kind: 'decided'
      state: 'verified' | 'mismatch' | 'failed' | 'inconclusive'
      /** Why; empty if verified. */
      message: string
      /** The runs that the verdict rests on. */
      agreed: readonly RecordedRun[]
      /** Runs that two or more independent workers of the same signature contradict. */
      outvoted: readonly RecordedRun[]
      /** The scenario gives different results to the same actions. */
      nondeterministic: boolean
    }

/** No evaluation is run more often. */
export const maxRuns = 4

/** Decides, or asks for another run. Buyers are owed their money if and only if the state is `mismatch`. */
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
 * Runs that reproduced the claim and found the same on the held-out episodes, enough of them. Where others contradict
 * them, two of one signature are needed.
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
 * Groups of two or more independent runs, each of one signature, with one result that is not the claim's. None if any run
 * reproduced the claim, or got yet another result.
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

/** The most runs among these that are independent of each other. */
function countIndependent(runs: readonly RecordedRun[]): number {
  let count = 0
  for (const owned of byKey(runs, ({ owner }) => owner)) {
    const machines = new Set(owned.map(({ machine }) => machine).filter((machine) => machine !== null))
    count += Math.max(1, machines.size)
  }
  return count
}

/** What decides whether two workers must get the same bits: undefined if a worker does not state its processor. */
export function signatureOf(runtime: Runtime): string | undefined {
  if (runtime.arch === undefined || runtime.instructions === undefined) return undefined
  return JSON.stringify(Object.entries(runtime).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** A worker of unknown signature equals no other. */
function signatureKey({ runtime, owner, machine, worker }: RecordedRun): string {
  return signatureOf(runtime) ?? JSON.stringify([owner, machine, worker])
}

/** Whether nothing that both state differs. */
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
