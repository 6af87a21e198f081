import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAgent, sha256 } from '@agentgym/agent/engine'
import { AgentGymError, type AgentManifest } from '@agentgym/contract'
import { describe, expect, test } from 'vitest'
import { badModels } from '../../../testdata/models/bad-models.ts'
import { goodModel, goodModels } from '../../../testdata/models/good-models.ts'
import {
  endlessLoop,
  externalWeights,
  memoryBomb,
  overflow,
  random,
  rowsFixed,
  rowsMixed,
} from '../../../testdata/models/hostile-models.ts'
import { goodAgent } from '../../../testdata/tarballs/good-agent.ts'
import { policyCases, randomObservations, testRandom } from '../policy/testing/policy-cases.ts'
import { superviseJob } from '../sandbox/supervisor.ts'
import { checkAgentModel } from './check-agent-model.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { type ModelCheckLimits, runGoldenBatch } from './golden-batch.ts'
import { GOLDEN_ROWS, goldenObservations } from './golden-batch.worker.ts'
import { blameModel } from './model-failure.ts'

function agentWith(model: Uint8Array): AgentManifest {
  return { ...goodAgent, model_hash: sha256(model) }
}

/** Runs the golden batch of a model that has not been walked. */
function batchOf(model: Uint8Array, limits: Partial<ModelCheckLimits> = {}): Promise<string> {
  return runGoldenBatch({ manifest: goodAgent, model, limits })
}

describe.concurrent('checkAgentModel', () => {
  test('passes a good model, and gives the same hash of its outputs every time', async () => {
    const model = goodModel()
    const first = await checkAgentModel({ manifest: agentWith(model), model })
    expect(first.checks.map(({ id, ok }) => [id, ok])).toEqual([
      ['hash', true],
      ['policy', true],
      ['structure', true],
      ['golden_batch', true],
    ])
    expect(first.ok).toBe(true)
    expect(first.output_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await batchOf(model)).toBe(first.output_hash)
    expect(await batchOf(goodModels[1].bytes), 'the same network with documentation').toBe(first.output_hash)
  })

  test('passes a model that was published before bytes had to be canonical, and runs what the walk writes of it', async () => {
    const [{ bytes }, { bytes: model }] = goodModels
    const [plain, older] = await Promise.all(
      [bytes, model].map((each) => checkAgentModel({ manifest: agentWith(each), model: each })),
    )
    expect(older.ok).toBe(true)
    expect(older.output_hash).toBe(plain.output_hash)
  })

  test('names the first fault, and what was not run', async () => {
    const model = badModels.find(({ name }) => name === 'external-data')?.bytes ?? Buffer.alloc(0)
    const { ok, checks, output_hash } = await checkAgentModel({ manifest: agentWith(model), model })
    expect({ ok, output_hash }).toEqual({ ok: false, output_hash: null })
    expect(checks.map(({ id, ok }) => [id, ok])).toEqual([
      ['hash', true],
      ['policy', true],
      ['structure', false],
      ['golden_batch', false],
    ])
    expect(checks[2].message).toMatch(/^model_external_data: /)
    expect(checks[3].message).toBe('not run: structure failed')
  })

  test('refuses another model, and a policy of other spaces', async () => {
    const model = goodModel()
    const other = await checkAgentModel({ manifest: { ...agentWith(model), model_hash: 'c'.repeat(64) }, model })
    expect(other.checks[0]).toMatchObject({ id: 'hash', ok: false, message: expect.stringMatching(/^agent_invalid: /) })
    const manifest = agentWith(model)
    for (const change of [{ offset: 1 }, { name: 'seen' }, { size: 3 }, { kind: 'text' as const }]) {
      const policy = { ...manifest.policy, observation: [{ ...manifest.policy.observation[0], ...change }] }
      const { checks } = await checkAgentModel({ manifest: { ...manifest, policy }, model })
      expect(checks[1]).toMatchObject({ id: 'policy', ok: false, message: expect.stringContaining('observation') })
    }
  })

  test('ends at once where it is cancelled', async () => {
    const model = goodModel()
    const cancelled = checkAgentModel({ manifest: agentWith(model), model, signal: AbortSignal.abort() })
    await expect(cancelled).rejects.toMatchObject({ code: 'training_cancelled' })
  })
})

describe.concurrent('a hostile model that went around the walk ends its own process, with a code', () => {
  test('hangs', async () => {
    const error = await batchOf(endlessLoop, { deadlineMs: 1_000 }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'model_timeout', data: { limit_ms: 1_000 } })
  })

  test('fills the memory', async () => {
    const error = await batchOf(memoryBomb, { processMemoryMb: 600 }).catch((reason: unknown) => reason)
    // Where the machine has not so much at all, the allocator says so before anything is written.
    expect(error).toMatchObject({ code: expect.stringMatching(/^model_(out_of_memory|load_failed|run_failed)$/) })
  })

  test('reads files of its folder, which is empty', async () => {
    await expect(batchOf(externalWeights)).rejects.toMatchObject({ code: 'model_load_failed' })
    expect(existsSync('weights.bin')).toBe(false)
  })

  test('gives what is no number', async () => {
    await expect(batchOf(overflow)).rejects.toMatchObject({ code: 'model_output_invalid' })
  })

  test('gives other numbers every time', async () => {
    await expect(batchOf(random)).rejects.toMatchObject({ code: 'model_output_invalid' })
  })

  test('gives other numbers in a batch of another size, or none', async () => {
    await expect(batchOf(rowsMixed)).rejects.toMatchObject({
      code: 'model_output_invalid',
      message: expect.stringContaining('in a batch of 1 than in one of 64'),
    })
    await expect(batchOf(rowsFixed)).rejects.toMatchObject({ code: 'model_run_failed' })
  })

  test('is no model', async () => {
    await expect(batchOf(Buffer.from('text'))).rejects.toMatchObject({ code: 'model_load_failed' })
    const truncated = goodModel().subarray(0, 300)
    await expect(batchOf(truncated)).rejects.toMatchObject({ code: 'model_load_failed' })
  })

  test('crashes', async () => {
    const entry = new URL('../sandbox/testing/probe.process.ts', import.meta.url)
    const crash = await superviseJob({ entry, job: { act: 'crash' }, identity: goodAgent.scenario }).catch(blameModel)
    expect(crash).toMatchObject({ code: 'model_crashed', data: { signal: 'SIGSEGV' } })
    const exit = await superviseJob({ entry, job: { act: 'exit', text: '' }, identity: goodAgent.scenario }).catch(
      blameModel,
    )
    expect(exit).toMatchObject({ code: 'model_crashed', data: { exit_status: 3 } })
    const own = new AgentGymError({ code: 'training_failed', message: 'could not be started' })
    expect(blameModel(own)).toBe(own)
  })
})

describe('golden observations', () => {
  test.each(policyCases())('$name: within the spaces, and not the same in every row', ({ spec }) => {
    const rows = goldenObservations(spec)
    const row = spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
    expect(rows.length).toBe(GOLDEN_ROWS * row)
    expect(rows.length).toBe(randomObservations(spec, GOLDEN_ROWS, testRandom(1)).length)
    for (const leaf of spec.observation) {
      for (let r = 0; r < GOLDEN_ROWS; r++) {
        const columns = [...rows.subarray(r * row + leaf.offset, r * row + leaf.offset + leaf.size)]
        columns.forEach((number, i) => {
          if (leaf.kind === 'box') expect(Math.abs(number)).toBeLessThanOrEqual(2)
          else {
            expect(Number.isInteger(number)).toBe(true)
            expect(number).toBeGreaterThanOrEqual(0)
            expect(number).toBeLessThan(leaf.counts[leaf.kind === 'text' ? 0 : i])
          }
        })
        // Padding only after the tokens.
        if (leaf.kind === 'text')
          expect(columns.indexOf(0) === -1 || columns.slice(columns.indexOf(0)).every((id) => id === 0)).toBe(true)
      }
    }
    expect(
      new Set(Array.from({ length: GOLDEN_ROWS }, (_, r) => rows.slice(r * row, (r + 1) * row).join())).size,
    ).toBeGreaterThan(Math.min(5, row))
  })
})

test('an agent in a folder: its model is walked before it is evaluated, whoever brought it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentgym-agent-'))
  try {
    await writeFile(join(folder, 'model.onnx'), endlessLoop)
    await writeFile(join(folder, 'agent.json'), JSON.stringify(agentWith(endlessLoop)))
    await expect(evaluateAgent({ agent: folder })).rejects.toMatchObject({ code: 'model_subgraph_forbidden' })
    expect((await readAgent(folder)).algorithm, 'what it says can still be read').toBe('ppo')
    await writeFile(join(folder, 'model.onnx'), goodModel())
    await expect(evaluateAgent({ agent: folder })).rejects.toMatchObject({ code: 'agent_invalid' })
  } finally {
    await rm(folder, { recursive: true })
  }
})
