import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type BuiltScenario, buildScenario, identityOf } from '../../src/sandbox/build-scenario.ts'
import type { JobLimits } from '../../src/sandbox/limits.ts'
import { harnessSource } from '../../src/sandbox/scenario-code.ts'
import { superviseJob } from '../../src/sandbox/supervisor.ts'

const manifest = {
  name: '@hostile/scenario',
  version: '1.2.3',
  agentgym: {
    kind: 'scenario',
    entry: 'src/index.ts',
    title: 'Hostile',
    summary: 'A scenario that means harm.',
    category: 'test',
    difficulty: 'expert',
  },
}

/** Builds a scenario from the text of its entry, in a folder that is gone afterwards. */
export async function buildText(entry: string): Promise<BuiltScenario> {
  const folder = mkdtempSync(path.join(tmpdir(), 'agentgym-hostile-'))
  try {
    mkdirSync(path.join(folder, 'src'))
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(path.join(folder, 'src', 'index.ts'), entry)
    return await buildScenario(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export type EnvironmentRun = {
  scenario: Pick<BuiltScenario, 'package' | 'source' | 'hash'>
  environments?: number
  seed?: number
  steps?: number
  cycles?: number
  limits?: Partial<JobLimits>
  signal?: AbortSignal
  onHash?: (hash: string) => void
}

/** Plays a scenario in a supervised process; resolves to the hash of its trajectory. */
export async function runEnvironment(run: EnvironmentRun): Promise<string> {
  const { scenario, environments = 4, seed = 7, steps = 50, cycles = 1 } = run
  const identity = identityOf(scenario)
  const harness = await harnessSource()
  const result = await superviseJob({
    entry: new URL('./environment.process.ts', import.meta.url),
    job: { source: scenario.source, identity, harness, environments, seed, steps, cycles },
    identity,
    limits: run.limits,
    signal: run.signal,
    onMessage: (hash) => run.onHash?.(String(hash)),
  })
  return String(result)
}
