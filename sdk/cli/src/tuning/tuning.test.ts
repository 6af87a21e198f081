import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAtomically } from '@agentgym/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Runtime } from '../command-context.ts'
import { describeTerminal } from '../terminal/terminal.ts'
import { columnsOf } from '../terminal/text.ts'
import { StudyFolder, type StudyResult } from './study-folder.ts'
import { blockChanges, tunedBlock, writeTrainingBlock } from './training-block.ts'
import { type TuneState, tuneBlock } from './tune-view.ts'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'agentgym-tuning-'))
})
afterEach(() => rmSync(path, { recursive: true, force: true }))

describe('the training block', () => {
  const block = { algorithm: 'ppo', steps: 100, n_steps: 64, dqn: { gamma: 0.9 } }

  it('takes the settings of its own algorithm, and drops other names of them', () => {
    const tuned = tunedBlock(block, 'ppo', { steps: 200, rollout_steps: 128 })
    expect(tuned).toEqual({ algorithm: 'ppo', steps: 200, rollout_steps: 128, dqn: { gamma: 0.9 } })
    expect(blockChanges(block, tuned)).toEqual([
      { name: 'steps', before: 100, after: 200 },
      { name: 'n_steps', before: 64, after: undefined },
      { name: 'rollout_steps', before: undefined, after: 128 },
    ])
  })

  it('takes those of another algorithm under its name', () => {
    const tuned = tunedBlock(block, 'dqn', { n_step: 3 })
    expect(tuned).toEqual({ ...block, dqn: { gamma: 0.9, n_step: 3 } })
    expect(blockChanges(block, tuned)).toEqual([{ name: 'dqn.n_step', before: undefined, after: 3 }])
    expect(blockChanges({}, tunedBlock({}, 'ppo', {}))).toEqual([
      { name: 'algorithm', before: undefined, after: 'ppo' },
    ])
  })

  it('is written into package.json, where nothing else changes', async () => {
    const manifest = { name: 'maze', agentgym: { kind: 'scenario', training: {}, title: 'Maze' }, type: 'module' }
    writeFileSync(join(path, 'package.json'), `${JSON.stringify(manifest, null, 4)}\n`)
    await writeTrainingBlock(path, { gamma: 0.9 }, { writeAtomically } as Runtime)
    manifest.agentgym.training = { gamma: 0.9 }
    expect(readFileSync(join(path, 'package.json'), 'utf8')).toBe(`${JSON.stringify(manifest, null, 4)}\n`)
  })
})

describe("a study's folder", () => {
  const result = (job: number, rung = 0): StudyResult => ({
    job,
    candidate: job,
    rung,
    score: job,
    tie: 0,
    error: null,
  })

  it('has the results of finished jobs, whatever a kill has cut off', async () => {
    const folder = new StudyFolder(path, { writeAtomically })
    await folder.addResult(result(0), new Uint8Array([1]))
    appendFileSync(join(path, 'results.jsonl'), '{"job":1,"candidate":1,"ru')
    expect(await folder.results()).toEqual([result(0)])
    await folder.addResult(result(1), new Uint8Array([2]))
    expect(await folder.results()).toEqual([result(0), result(1)])
    expect(await folder.checkpoint(1, 0)).toEqual(new Uint8Array([2]))
  })

  it('keeps the checkpoint of the rung before until the next one counts', async () => {
    const folder = new StudyFolder(path, { writeAtomically })
    await folder.addResult(result(0), new Uint8Array([1]))
    await folder.addResult({ ...result(0, 1), job: 1 }, new Uint8Array([2]))
    expect(await folder.checkpoint(0, 1)).toEqual(new Uint8Array([2]))
    await expect(folder.checkpoint(0, 0)).rejects.toMatchObject({ code: 'checkpoint_invalid' })
  })

  it('is refused where it contains something else, or a broken study', async () => {
    const folder = new StudyFolder(path, { writeAtomically })
    expect(await folder.read()).toBeNull()
    writeFileSync(join(path, 'notes.txt'), '')
    await expect(folder.read()).rejects.toMatchObject({ code: 'usage_invalid' })
    writeFileSync(join(path, 'study.json'), '{}')
    await expect(folder.read()).rejects.toMatchObject({ code: 'checkpoint_invalid' })
  })
})

describe('the live block', () => {
  const state: TuneState = {
    ...{ phase: 'search', done: 300_000, total: 1_000_000, running: new Map([['#9', 1_500]]) },
    rungs: [
      { steps: 3_704, candidates: 27, best: 187.2 },
      { steps: 100_000, candidates: 0, best: null },
    ],
    best: `#14, ${'learning_rate 0.0021 · '.repeat(9)}`,
  }

  it.each([20, 40, 80, 120])('is never wider than %i columns', (width) => {
    const terminal = describeTerminal({ isTTY: true, columns: width }, { LANG: 'C.UTF-8' }, { color: false })
    const lines = tuneBlock(state, { seconds: 10, before: 0, stopping: false, width }, terminal)
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width)
    if (width >= 80) expect(lines[1]).toMatch(/ 3,704 steps {4}27 candidates {2}best 187.2/)
  })
})
