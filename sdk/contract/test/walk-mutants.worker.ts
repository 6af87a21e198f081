import { parentPort, workerData } from 'node:worker_threads'
import fc from 'fast-check'
import { badModels } from '../../../testdata/models/bad-models.ts'
import { goodModels } from '../../../testdata/models/good-models.ts'
import { mutateModel } from '../../../testdata/models/mutate-model.ts'
import { AgentGymError } from '../src/agent-gym-error.ts'
import { checkModelStructure } from '../src/model/index.ts'

/** Walks changed models, good and bad, in a thread whose memory is limited; tells which codes came how often. */
const { runs, seed } = workerData as { runs: number; seed: number | undefined }
const [{ policy }] = goodModels
const models = [...goodModels, ...badModels.map(({ name, bytes }) => ({ name, policy, bytes }))]
const codes: Record<string, number> = {}
const change = fc.record({ model: fc.nat(models.length - 1), seed: fc.nat() })
fc.assert(
  fc.property(change, ({ model, seed }) => {
    const code = codeOf(mutateModel(models[model].bytes, seed), model)
    codes[code] = (codes[code] ?? 0) + 1
  }),
  { numRuns: runs, ...(seed === undefined ? {} : { seed }) },
)
fc.assert(
  fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
    if (codeOf(bytes, 0) === 'accepted') throw new Error('random bytes are no model')
  }),
  { numRuns: runs >> 2, ...(seed === undefined ? {} : { seed }) },
)
parentPort?.postMessage(codes)

function codeOf(bytes: Uint8Array, model: number): string {
  try {
    checkModelStructure(bytes, { policy: models[model].policy })
    return 'accepted'
  } catch (error) {
    if (!(error instanceof AgentGymError) || !error.code.startsWith('model_')) throw error
    return error.code
  }
}
