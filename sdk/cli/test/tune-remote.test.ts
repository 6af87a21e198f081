// @module-tag full
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Run, runListSchema, studyOfNote } from '@agentgym/contract'
import { runCli, writeReadme } from '@agentgym/testkit/command-line'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRegistry, type Person, type Registry } from './registry-people.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

let registry: Registry
let ann: Person

/** Rungs of 2,000 and 6,000 steps; five candidates and a promotion. */
const small = ['--steps', '6000', '--budget', '14000', '--confirm', '2', '--parallel', '2']
const fixed = ['--set', 'evaluation_episodes=10']
const study = (...more: string[]) => ['tune', '@ann/puck', ...small, ...fixed, ...more]

beforeAll(async () => {
  registry = await openRegistry()
  ann = registry.person('ann')
  await ann.join()
  for (const words of [
    ['scenario', 'init', 'puck', '--yes', '--name', '@ann/puck'],
    ['scenario', 'publish', 'puck'],
  ]) {
    const { status, stdout, stderr } = await ann.run([...words, '--json'])
    if (status !== 0) throw new Error(stdout + stderr)
    if (words[1] === 'init') writeReadme(join(ann.work, 'puck'))
  }
}, 300_000)
afterAll(() => registry?.close())

const environment = () => ({ AGENTGYM_HOME: ann.home, AGENTGYM_SERVER: registry.server.url })

async function done(words: string[]): Promise<unknown[]> {
  const { status, lines, stdout, stderr } = await ann.run([...words, '--json'])
  if (status !== 0) throw new Error(`agentgym ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`)
  return lines
}

/** Lines of a study's file, in an order that does not depend on which job ended first. */
const linesOf = (folder: string, file: string) =>
  readFileSync(join(ann.work, folder, file), 'utf8')
    .trim()
    .split('\n')
    .sort()

async function runsOf(state?: string): Promise<Run[]> {
  const [page] = await done(['runs', 'list', '--remote', '--limit', '100', ...(state ? ['--state', state] : [])])
  return runListSchema.parse(page).runs
}

/** Starts the command as a process of its own, and kills it after that many candidates. */
async function killAfter(words: string[], candidates: number): Promise<void> {
  const child = spawn(join(root, 'agentgym'), [...words, '--json'], {
    cwd: ann.work,
    env: { ...process.env, ...environment() },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  await new Promise<void>((resolve) => {
    let finished = 0
    child.stdout.on('data', (text: Buffer) => {
      finished += String(text).split('"event":"candidate"').length - 1
      if (finished >= candidates) resolve()
    })
    child.on('exit', () => resolve())
  })
  if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL')
}

describe('tune --remote', { timeout: 600_000 }, () => {
  it('comes to the winner of the local study, also after a kill, with one run for each candidate', async () => {
    const local = await done(study('--out', 'here'))
    await killAfter(study('--out', 'there', '--remote'), 2)
    const remote = await done(['tune', '@ann/puck', '--remote', '--resume', '--out', 'there'])
    expect(linesOf('there', 'results.jsonl')).toEqual(linesOf('here', 'results.jsonl'))
    expect(linesOf('there', 'confirmation.jsonl')).toEqual(linesOf('here', 'confirmation.jsonl'))
    const { picture: _here, ...expected } = local.at(-1) as Record<string, unknown>
    const { picture: _there, ...found } = remote.at(-1) as Record<string, unknown>
    expect(found).toEqual(expected)
    const runs = await runsOf()
    const results = linesOf('there', 'results.jsonl').map((line) => JSON.parse(line) as { candidate: number })
    const candidates = new Set(results.map(({ candidate }) => candidate)).size
    const confirmations = linesOf('there', 'confirmation.jsonl').length
    expect(runs.filter(({ state }) => state === 'paused')).toHaveLength(candidates)
    expect(runs.filter(({ state }) => state === 'completed')).toHaveLength(confirmations)
    expect(runs).toHaveLength(candidates + confirmations)
    // One study, which the page of the sweep shows by its ID.
    expect(new Set(runs.map(({ note }) => studyOfNote(note)))).toEqual(
      new Set([expect.stringMatching(/^[0-9a-f]{8}$/)]),
    )
  })

  if (isLong) {
    it('pauses its runs on Ctrl-C, and goes on with them', async () => {
      const before = new Set((await runsOf()).map(({ id }) => id))
      const words = study('--out', 'stopped', '--seed', '2', '--remote', '--json')
      const stopped = await runCli(words, {
        ...{ cwd: ann.work, environment: environment() },
        onLine: (line, interrupt) => void (line.includes('"event":"candidate"') && interrupt()),
      })
      expect(stopped.lines.at(-1)).toMatchObject({
        error: {
          code: 'training_cancelled',
          data: { resume: 'agentgym tune @ann/puck --remote --out stopped --resume' },
        },
      })
      // A worker saves its checkpoint first.
      while ((await runsOf('running')).length > 0);
      expect(await runsOf('queued')).toEqual([])
      await done(['tune', '@ann/puck', '--remote', '--resume', '--out', 'stopped'])
      const notes = (await runsOf()).filter(({ id }) => !before.has(id)).map(({ note }) => note)
      expect(new Set(notes).size).toBe(notes.length)
      expect(await runsOf('cancelled')).toEqual([])
    })
  }

  it('refuses what cannot be', async () => {
    const refused = async (words: string[]) => {
      const { status, lines } = await ann.run([...words, '--json'])
      return { status, message: (lines.at(-1) as { error: { message: string } }).error.message }
    }
    expect(await refused(['tune', 'puck', '--remote'])).toMatchObject({
      status: 2,
      message: expect.stringContaining('local folder'),
    })
    expect(await refused(study('--run-budget', '2'))).toMatchObject({ message: '--run-budget needs --remote' })
    expect(await refused(study('--write', '--remote'))).toMatchObject({ status: 2 })
    expect(await refused(['tune', '@ann/puck', '--resume', '--out', 'there'])).toMatchObject({
      message: expect.stringContaining('the study trains on'),
    })
  })
})
