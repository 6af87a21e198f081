import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { AgentGymError, namingFile, taskOrderSchema } from '@agentgym/contract'
import type { BuiltScenario, PlaySession } from '@agentgym/runtime'
import { z } from 'zod'

const hash = z.string().regex(/^[0-9a-f]{64}$/)

/** The first line of a file of demonstrations. */
const headSchema = z.strictObject({
  format: z.literal('agentgym-demonstrations'),
  format_version: z.literal(1),
  /** Of the command that recorded them. */
  agentgym: z.string(),
  scenario: z.strictObject({ name: z.string(), version: z.string(), hash }),
  seed: z.int().nonnegative(),
  tasks: z
    .strictObject({ split: z.enum(['train', 'eval']), size: z.int().positive(), order: taskOrderSchema })
    .nullable(),
})

/** Each further line: an episode, bit for bit. */
const episodeSchema = z.strictObject({
  /** Number of the held-out episode: with the seed, it decides the task and everything that is random. */
  episode: z.int().nonnegative(),
  /** Rows of the action, categorical ones as indices from 0; numbers are float32. */
  actions: z.array(z.array(z.number())).min(1),
  rewards: z.array(z.number()),
  return: z.number(),
  end: z.enum(['terminated', 'truncated']),
  metrics: z.record(z.string(), z.number()),
  /** SHA-256 over actions, rewards and end, as `agentgym eval` computes it for each episode. */
  trajectory_hash: hash,
})
export type Demonstration = z.infer<typeof episodeSchema>
export type Demonstrations = { head: z.infer<typeof headSchema>; episodes: Demonstration[] }

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
  const { train, eval: held } = session.opened.tasks
  const head: Demonstrations['head'] = {
    format: 'agentgym-demonstrations',
    format_version: 1,
    agentgym,
    scenario: { name, version, hash: scenario.hash },
    seed,
    tasks: train === 0 ? null : { split: held > 0 ? 'eval' : 'train', size: held > 0 ? held : train, order: 'drawn' },
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
    head: parse(headSchema, head, 1),
    episodes: episodes.map((line, index) => parse(episodeSchema, line, index + 2)),
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
