import { RandomActions } from '@agentgym/playing'
import { type ProfileNode, stopInlining } from '../guest-profiler.ts'
import type { SandboxedEnvironment } from '../sandboxed-environment.ts'
import { BUNDLE_NAME } from '../source-place.ts'
import type { ProfiledPhase, RawProfile } from './profile-report.ts'
import { profiledPhases } from './profile-report.ts'

const FEW_ENVIRONMENTS = 64
const MANY_ENVIRONMENTS = 16_384
/** V8 samples about once a millisecond, and only within a crossing: one must take many. */
const CROSSING_MS = 50
/** Of all environments: states in the isolate, and rows outside. */
const MOST_STATE_BYTES = 64 << 20
const MOST_NUMBERS = 1 << 23
const SEED = 1
const WARM_UP_MS = 300
const TIMED_MS = 700
const CPU_MS = 1_500
const HEAP_MS = 500
/** On a busy machine the processor's time takes that much longer at most. */
const MOST_WAITING = 10
const MOST_FUNCTIONS = 40

/** Functions of the engine that call the author's code, by what they call. */
const callers: Record<string, ProfiledPhase> = {
  '#startEpisode': 'reset',
  '#playAction': 'step',
  '#writeObservation': 'observe',
  '#writeMask': 'actionMask',
  finishEpisode: 'metrics',
}

/** Opens this many environments, to be measured. */
export type OpenProfiled = (environments: number) => SandboxedEnvironment

type Found = { name: string; line: number; column: number; self: number; total: number; bytes: number }

/** Plays random actions with V8's profilers on: first plainly for the speed, then for the time, then for what is allocated. */
export async function profileScenario(open: OpenProfiled): Promise<RawProfile> {
  const { timed, environments } = measureSpeed(open)
  stopInlining()
  const environment = open(environments)
  const profiler = environment.profiler()
  const play = player(environment)
  play(WARM_UP_MS)
  profiler.startCpu()
  play(CPU_MS)
  const cpu = await profiler.stopCpu()
  await profiler.startHeap()
  const allocating = play(HEAP_MS)
  const heap = await profiler.stopHeap()
  profiler.dispose()

  const functions = new Map<string, Found>()
  const phases = new Map<ProfiledPhase, { samples: number; bytes: number }>()
  for (const tree of cpu.trees) {
    walk(tree, 'engine', [], (node, phase, path) => {
      phaseOf(phases, phase).samples += node.self
      if (isAuthors(node)) foundOf(functions, node).self += node.self
      // Once a function, however deep it recurs.
      for (const caller of new Set(path.map((above) => foundOf(functions, above)))) caller.total += node.self
    })
  }
  walk(heap, 'engine', [], (node, phase) => {
    phaseOf(phases, phase).bytes += node.self
    if (isAuthors(node)) foundOf(functions, node).bytes += node.self
  })
  const samples = [...phases.values()].reduce((sum, phase) => sum + phase.samples, 0)
  const share = (of: number) => (samples === 0 ? 0 : Math.min(1, of / samples))
  const perStep = (bytes: number) => bytes / allocating.steps
  const most = (one: Found) => one.self / Math.max(1, samples) + one.bytes / Math.max(1, heapTotal(heap))
  return {
    ...{ seed: SEED, ...timed, steps_per_second: timed.steps / timed.seconds, samples, collections: cpu.collections },
    bytes_per_step: perStep(heapTotal(heap)),
    phases: profiledPhases.flatMap((phase) => {
      const found = phases.get(phase)
      return found === undefined ? [] : [{ phase, share: share(found.samples), bytes_per_step: perStep(found.bytes) }]
    }),
    functions: [...functions.values()]
      .sort((a, b) => most(b) - most(a))
      .slice(0, MOST_FUNCTIONS)
      .map(({ name, line, column, self, total, bytes }) => ({
        ...{ name: name === '' ? '(anonymous)' : name.slice(0, 120), line, column },
        ...{ self: share(self), total: share(total), bytes_per_step: perStep(bytes) },
      })),
  }
}

/** The speed without a profiler, and as many environments as make a crossing long, as far as memory goes. */
function measureSpeed(open: OpenProfiled) {
  const environment = open(FEW_ENVIRONMENTS)
  const profiler = environment.profiler()
  const emptyBytes = profiler.heapBytes()
  const play = player(environment)
  play(WARM_UP_MS)
  const stateBytes = Math.max(1, (profiler.heapBytes() - emptyBytes) / FEW_ENVIRONMENTS)
  const timed = play(TIMED_MS)
  profiler.dispose()
  environment.dispose()
  const row = environment.description.sizes.observation
  const wanted = (CROSSING_MS / 1000) * (timed.steps / timed.seconds)
  const affordable = Math.min(MANY_ENVIRONMENTS, MOST_STATE_BYTES / stateBytes, MOST_NUMBERS / row)
  return { timed, environments: Math.max(1, Math.floor(Math.min(wanted, affordable))) }
}

/** Steps for a while, from one call to the next. */
function player(environment: SandboxedEnvironment) {
  const actions = new RandomActions(environment.description, SEED)
  environment.reset()
  return (timeMs: number) => {
    const startedMs = performance.now()
    let [steps, episodes, spentMs] = [0, 0, 0]
    while (spentMs < timeMs && performance.now() - startedMs < MOST_WAITING * timeMs) {
      // The actions are not the scenario's: they are left out of its time.
      actions.fill(environment.buffers)
      const beganMs = threadMs()
      environment.step()
      spentMs += threadMs() - beganMs
      steps += environment.environments
      for (const flags of environment.buffers.flags) if (flags !== 0) episodes += 1
    }
    return { steps, episodes, seconds: Math.max(spentMs, 1e-3) / 1000 }
  }
}

/** Time of the processor, which other work on the machine does not change. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function isAuthors({ script }: ProfileNode): boolean {
  return script === BUNDLE_NAME
}

/** Visits every node with the phase that it belongs to and the author's functions above it and in it. */
function walk(
  node: ProfileNode,
  phase: ProfiledPhase,
  path: readonly ProfileNode[],
  visit: (node: ProfileNode, phase: ProfiledPhase, path: readonly ProfileNode[]) => void,
): void {
  const own = node.name === '(garbage collector)' ? 'garbage collector' : phase
  const inside = isAuthors(node) ? [...path, node] : path
  visit(node, own, inside)
  for (const child of node.children) {
    const called = isAuthors(child) && !isAuthors(node) ? callers[node.name.replace(/^.*\./, '')] : undefined
    walk(child, called ?? own, inside, visit)
  }
}

function foundOf(functions: Map<string, Found>, { name, line, column }: ProfileNode): Found {
  const key = `${line}:${column}:${name}`
  const found = functions.get(key) ?? { name, line, column, self: 0, total: 0, bytes: 0 }
  functions.set(key, found)
  return found
}

function phaseOf(phases: Map<ProfiledPhase, { samples: number; bytes: number }>, phase: ProfiledPhase) {
  const found = phases.get(phase) ?? { samples: 0, bytes: 0 }
  phases.set(phase, found)
  return found
}

function heapTotal({ self, children }: ProfileNode): number {
  return children.reduce((sum, child) => sum + heapTotal(child), self)
}
