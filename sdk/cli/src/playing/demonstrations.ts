import { appendFile, readFile, writeFile } from 'node:fs/promises'
import {
  AgentGymError,
  type Demonstration,
  type DemonstrationsHead,
  demonstrationSchema,
  demonstrationsHeadSchema,
  demonstrationTasks,
  namingFile,
} from '@agentgym/contract'
import type { BuiltScenario, PlaySession } from '@agentgym/runtime'
import type { z } from 'zod'

export type Demonstrations = { head: DemonstrationsHead; episodes: Demonstration[] }

/** Writes a new file with its first line. Throws `file_exists` where there is one. */
export async function beginDemonstrations(
  path: string,
  {
    scenario,
    seed,
    agentgym,
    session,
  }: { scenario: BuiltScenario; seed: number; agentgym: string; session: PlaySession },
): Promise<void> {
  const { name, version } = scenario.package
  const head: DemonstrationsHead = {
    format: 'agentgym-demonstrations',
    format_version: 1,
    agentgym,
    scenario: { name, version, hash: scenario.hash },
    seed,
    tasks: demonstrationTasks(session.opened.tasks),
  }
  await namingFile(path, () => writeFile(path, `${JSON.stringify(head)}\n`, { flag: 'wx' }))
}

export async function addDemonstration(path: string, episode: Demonstration): Promise<void> {
  await namingFile(path, () => appendFile(path, `${JSON.stringify(episode)}\n`))
}

/** Reads such a file. Throws `config_invalid` that names the line. */
export async function readDemonstrations(path: string, shown: string): Promise<Demonstrations> {
  const text = await namingFile(path, () => readFile(path, 'utf8'))
  const lines = text.split('\n').filter((line) => line !== '')
  const parse = <Value>(schema: z.ZodType<Value>, line: string, number: number): Value => {
    try {
      return schema.parse(JSON.parse(line))
    } catch {
      throw new AgentGymError({
        code: 'config_invalid',
        message: `line ${number} of ${shown} is no line of a file of demonstrations`,
        hint: 'Record one with agentgym play SCENARIO --record FILE.',
        data: { field: 'replay', line: number },
      })
    }
  }
  const [head = '', ...episodes] = lines
  return {
    head: parse(demonstrationsHeadSchema, head, 1),
    episodes: episodes.map((line, index) => parse(demonstrationSchema, line, index + 2)),
  }
}

/** Where a demonstration played again is another, in words; null if every bit is the same. */
export async function replayDifference(session: PlaySession, recorded: Demonstration): Promise<string | null> {
  await session.begin(recorded.episode)
  for (const [index, action] of recorded.actions.entries()) {
    const { exact, end, digest } = await session.step(action)
    const last = index === recorded.actions.length - 1
    if (!Object.is(exact.reward, recorded.rewards[index]))
      return `the reward of step ${index + 1} is ${exact.reward}, recorded ${recorded.rewards[index]}`
    if (end !== null && !last) return `the episode ended after ${index + 1} of ${recorded.actions.length} steps`
    if (!last) continue
    if (end !== recorded.end) return `the episode ${end ?? 'went on'} where ${recorded.end} was recorded`
    if (digest !== recorded.trajectory_hash) return 'the trajectory hash differs'
  }
  return null
}
