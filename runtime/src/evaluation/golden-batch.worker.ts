import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { AgentGymError, type ErrorReport, type PolicySpec } from '@agentgym/contract'
import { loadModelSession, type PolicySession } from '../policy/policy-session.ts'
import { GOLDEN_ROWS, goldenObservations } from './golden-observations.ts'

export type GoldenRequest = { policy: PolicySpec; model: Uint8Array }
export type GoldenReply =
  | { type: 'ready' }
  | { type: 'done'; outputHash: string }
  | { type: 'fault'; error: ErrorReport }
  | { type: 'bug'; message: string }

/** Runs the golden batch twice; gives the SHA-256 (hex) of its outputs. The caller has walked the model, or means not to. */
function runGoldenBatch({ policy, model }: GoldenRequest): string {
  const session = loadModelSession(model, policy, { batch: GOLDEN_ROWS, walked: true })
  const observations = goldenObservations(policy)
  const first = hashOutputs(session, observations)
  if (hashOutputs(session, observations) !== first)
    throw outputInvalid('gives other numbers when it sees the same observations again')
  return first
}

/** SHA-256 over the distribution rows, log_std and values of one run, as little-endian float32. */
function hashOutputs(session: PolicySession, observations: Float32Array): string {
  session.run(observations)
  const hash = createHash('sha256')
  for (const numbers of [session.distribution, session.logStd, session.values ?? new Float32Array(0)]) {
    const at = numbers.findIndex((number) => !Number.isFinite(number))
    if (at >= 0) throw outputInvalid(`gives ${numbers[at]} for an observation within its spaces`)
    hash.update(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength))
  }
  return hash.digest('hex')
}

function outputInvalid(what: string): AgentGymError {
  return new AgentGymError({
    code: 'model_output_invalid',
    message: `model.onnx ${what}.`,
    hint: 'Train again with a lower learning rate, or with normalised observations.',
    data: { file: 'model.onnx' },
  })
}

if (parentPort !== null) {
  const port = parentPort
  const reply = (message: GoldenReply) => port.postMessage(message)
  port.on('message', (request: GoldenRequest) => {
    try {
      reply({ type: 'done', outputHash: runGoldenBatch(request) })
    } catch (error) {
      if (error instanceof AgentGymError) reply({ type: 'fault', error: error.toReport() })
      else reply({ type: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : 'unknown' })
    }
  })
  reply({ type: 'ready' })
}
