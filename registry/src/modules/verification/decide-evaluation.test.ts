import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { areIndependent } from '../../core/queue/worker-place.ts'
import {
  type Decision,
  decideEvaluation,
  maxRuns,
  type Outcome,
  type Policy,
  type RecordedRun,
  type Runtime,
  signatureOf,
} from './decide-evaluation.ts'

const avx2: Runtime = { node: '24.21.0', arch: 'x64', instructions: 'avx2' }
const avx512: Runtime = { ...avx2, instructions: 'avx512' }
const old: Runtime = { node: '24.21.0' }

const reproduced = (result = 'r'): Outcome => ({ kind: 'reproduced', result })
const differs = (result = 'd'): Outcome => ({ kind: 'differs', result, message: `It got ${result}.` })
const broken: Outcome = { kind: 'broken', message: 'The worker ran out of time.' }
const unstable: Outcome = { kind: 'nondeterministic', message: 'Two processes played differently.' }
const refused: Outcome = { kind: 'refused', message: 'model_timeout: no answer.' }

const run = (machine: string | null, outcome: Outcome, more: Partial<RecordedRun> = {}): RecordedRun => ({
  ...{ worker: `w-${machine}`, owner: 'operator', machine, runtime: avx2, outcome },
  ...more,
})
const policy: Policy = { workers: 'auto', another: true, published: true, references: [avx2] }
const alone = { ...policy, another: false }

function stateOf(decision: Decision): string {
  return decision.kind === 'decided' ? decision.state : decision.kind
}

describe('verdicts of evaluation runs', () => {
  it.each<[string, RecordedRun[], Policy, string]>([
    ['none', [], policy, 'run_again'],
    ['one that reproduces, another worker is there', [run('a', reproduced())], policy, 'run_again'],
    ['one that reproduces, alone', [run('a', reproduced())], alone, 'verified'],
    [
      'one that reproduces, alone, where two are wanted',
      [run('a', reproduced())],
      { ...alone, workers: 2 },
      'inconclusive',
    ],
    ['one that reproduces, where one is wanted', [run('a', reproduced())], { ...policy, workers: 1 }, 'verified'],
    ['two that reproduce', [run('a', reproduced()), run('b', reproduced())], policy, 'verified'],
    [
      'two that reproduce, unlike signatures that agree',
      [run('a', reproduced()), run('b', reproduced(), { runtime: avx512 })],
      policy,
      'verified',
    ],
    [
      'two that reproduce and differ on the held-out episodes',
      [run('a', reproduced('x')), run('b', reproduced('y'))],
      alone,
      'inconclusive',
    ],
    [
      'two runs of one machine',
      [run('a', reproduced()), run('a', reproduced())],
      { ...alone, workers: 2 },
      'inconclusive',
    ],
    ['one that differs', [run('a', differs())], policy, 'run_again'],
    ['one that differs, alone', [run('a', differs())], alone, 'inconclusive'],
    ['one that differs, alone, where one is wanted', [run('a', differs())], { ...alone, workers: 1 }, 'inconclusive'],
    ['two that differ alike', [run('a', differs()), run('b', differs())], policy, 'mismatch'],
    [
      'two of different owners that differ alike',
      [run(null, differs()), run(null, differs(), { owner: 'eve' })],
      policy,
      'mismatch',
    ],
    ['two of one machine that differ alike', [run('a', differs()), run('a', differs())], alone, 'inconclusive'],
    ['two of unknown machines', [run(null, differs()), run('b', differs())], alone, 'inconclusive'],
    ['two that differ, each its own way', [run('a', differs('x')), run('b', differs('y'))], alone, 'inconclusive'],
    [
      'two of unlike signatures that differ alike',
      [run('a', differs()), run('b', differs(), { runtime: avx512 })],
      alone,
      'inconclusive',
    ],
    [
      'two that do not state their processor',
      [run('a', differs(), { runtime: old }), run('b', differs(), { runtime: old })],
      alone,
      'inconclusive',
    ],
    [
      'two whose processor is not that of the claim',
      [run('a', differs(), { runtime: avx512 }), run('b', differs(), { runtime: avx512 })],
      policy,
      'inconclusive',
    ],
    [
      'two of the claim’s processor after two of another, all alike',
      [
        run('a', differs(), { runtime: avx512 }),
        run('b', differs(), { runtime: avx512 }),
        run('c', differs()),
        run('d', differs()),
      ],
      policy,
      'mismatch',
    ],
    [
      'two, where the claim states no processor',
      [run('a', differs()), run('b', differs())],
      { ...policy, references: [old] },
      'mismatch',
    ],
    ['a tie', [run('a', reproduced()), run('b', differs())], policy, 'run_again'],
    ['a tie without a third', [run('a', reproduced()), run('b', differs())], alone, 'inconclusive'],
    [
      'unlike signatures that disagree',
      [run('a', reproduced(), { runtime: avx512 }), run('b', differs()), run('c', differs())],
      policy,
      'run_again',
    ],
    [
      'disagreeing signatures without other workers',
      [run('a', reproduced(), { runtime: avx512 }), run('b', differs()), run('c', differs())],
      alone,
      'inconclusive',
    ],
    ['two against one', [run('a', reproduced()), run('b', differs()), run('c', reproduced())], policy, 'verified'],
    [
      'two against the claim and one',
      [run('a', differs()), run('b', reproduced()), run('c', differs())],
      policy,
      'mismatch',
    ],
    ['a machine that failed', [run('a', broken)], policy, 'run_again'],
    ['machines that failed', [run('a', broken), run('b', broken)], alone, 'inconclusive'],
    ['a machine that failed, and one that reproduces', [run('a', broken), run('b', reproduced())], alone, 'verified'],
    ['a machine that failed, and one that differs', [run('a', broken), run('b', differs())], alone, 'inconclusive'],
    ['an unstable scenario', [run('a', unstable), run('b', unstable)], policy, 'inconclusive'],
    [
      'an unstable scenario, and two that differ',
      [run('a', unstable), run('b', differs()), run('c', differs())],
      alone,
      'inconclusive',
    ],
    ['a model that fails its checks at first', [run('a', refused)], { ...policy, published: false }, 'failed'],
    ['a model that failed its checks later', [run('a', refused), run('b', refused)], alone, 'inconclusive'],
  ])('%s', (_, runs, rules, state) => {
    expect(stateOf(decideEvaluation(runs, rules))).toBe(state)
  })

  it('holds back only a worker that two others contradict', () => {
    const [a, b, c] = [run('a', reproduced()), run('b', differs()), run('c', reproduced())]
    expect(decideEvaluation([a, b, c], policy)).toMatchObject({ agreed: [a, c], outvoted: [b] })
    expect(decideEvaluation([a, b], alone)).toMatchObject({ outvoted: [] })
    const other = run('b', differs(), { runtime: avx512 })
    expect(decideEvaluation([a, other, c], policy), 'another processor is no lie').toMatchObject({ outvoted: [] })
  })

  it('marks a scenario once the required number of workers found it unstable', () => {
    const marked = (runs: RecordedRun[], rules: Policy) => {
      const decision = decideEvaluation(runs, rules)
      return decision.kind === 'decided' && decision.nondeterministic
    }
    expect(marked([run('a', unstable)], policy)).toBe(false)
    expect(marked([run('a', unstable)], alone)).toBe(true)
    expect(marked([run('a', unstable)], { ...alone, workers: 2 })).toBe(false)
    expect(marked([run('a', unstable), run('b', unstable)], policy)).toBe(true)
  })
})

const runtimes = fc.constantFrom(avx2, avx512, old)
const outcomes = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('r', 's').map(reproduced) },
  { weight: 5, arbitrary: fc.constantFrom('d', 'd', 'd', 'e').map(differs) },
  { weight: 1, arbitrary: fc.constantFrom(broken, unstable, refused) },
)
const runsOf = fc.array(
  fc.record({
    worker: fc.constantFrom('v', 'w', 'x'),
    owner: fc.constantFrom('operator', 'eve'),
    machine: fc.constantFrom('a', 'b', 'c', null),
    runtime: runtimes,
    outcome: outcomes,
  }),
  { maxLength: 6 },
)
const policies = fc.record({
  workers: fc.constantFrom('auto' as const, 1 as const, 2 as const),
  another: fc.boolean(),
  published: fc.boolean(),
  references: fc.subarray([avx2, avx512, old], { minLength: 1 }),
})

/** The rule restated: two such runs, and no run that supports the claim. */
function mayMoveMoney(runs: readonly RecordedRun[]): boolean {
  const pairs = runs.flatMap((a) => runs.filter((b) => a !== b && areIndependent(a, b)).map((b) => [a, b] as const))
  const reproducing = runs.filter(({ outcome }) => outcome.kind === 'reproduced')
  return (
    runs.every(({ outcome }) => outcome.kind !== 'nondeterministic') &&
    pairs.some(([a, b]) => {
      const signature = signatureOf(a.runtime)
      return (
        signature !== undefined &&
        signature === signatureOf(b.runtime) &&
        a.outcome.kind === 'differs' &&
        b.outcome.kind === 'differs' &&
        a.outcome.result === b.outcome.result &&
        // Machines of another signature may honestly disagree; one of the same is outvoted.
        reproducing.every(({ runtime }) => signatureOf(runtime) === signature)
      )
    })
  )
}

describe('any sequence of runs', () => {
  it('moves money only on a mismatch that an independent worker of the same signature reproduced', () => {
    let moved = 0
    fc.assert(
      fc.property(runsOf, policies, (runs, rules) => {
        // As they come in: the first decision ends the evaluation.
        for (let count = 0; count <= runs.length; count++) {
          const seen = runs.slice(0, count)
          const decision = decideEvaluation(seen, rules)
          if (decision.kind === 'run_again') {
            expect(rules.another && count < maxRuns).toBe(true)
            continue
          }
          if (decision.state === 'mismatch') {
            moved++
            expect(mayMoveMoney(seen)).toBe(true)
          }
          if (decision.state === 'verified') {
            const results = new Set(decision.agreed.map(({ outcome }) => JSON.stringify(outcome)))
            expect(results.size).toBe(1)
            expect(decision.agreed.every(({ outcome }) => outcome.kind === 'reproduced')).toBe(true)
          }
          for (const out of decision.outvoted) {
            const against = seen.filter(
              (other) =>
                'result' in other.outcome &&
                'result' in out.outcome &&
                other.outcome.result !== out.outcome.result &&
                signatureOf(other.runtime) === signatureOf(out.runtime),
            )
            expect(against.some((a) => against.some((b) => areIndependent(a, b)))).toBe(true)
          }
          return
        }
      }),
      { numRuns: 5_000 },
    )
    expect(moved, 'the property is not empty').toBeGreaterThan(30)
  })

  it('does not depend on the order of the runs', () => {
    fc.assert(
      fc.property(runsOf, policies, fc.infiniteStream(fc.nat()), (runs, rules, order) => {
        const shuffled = runs.map((one) => [order.next().value, one] as const).sort(([a], [b]) => a - b)
        const again = decideEvaluation(
          shuffled.map(([, one]) => one),
          rules,
        )
        expect(stateOf(again)).toBe(stateOf(decideEvaluation(runs, rules)))
      }),
      { numRuns: 5_000 },
    )
  })
})
