import { createHash } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { JobLimits } from '../../src/sandbox/limits.ts'
import { createSandboxedEnvironment } from '../../src/sandbox/sandboxed-environment.ts'
import type { ScenarioIdentity } from '../../src/sandbox/vector-environment.ts'

/** Steps a scenario and hashes what comes out: the smallest job that runs guest code as training does. */
export type EnvironmentJob = {
  source: string
  identity: ScenarioIdentity
  harness: string
  environments: number
  seed: number
  steps: number
  /** How often the trajectory is played from the start; each time its hash is sent. */
  cycles: number
  limits: JobLimits
}

export type WorkerReply =
  | { kind: 'ready' }
  | { kind: 'board'; board: Int32Array }
  | { kind: 'hash'; hash: string }
  | { kind: 'failed'; report: ErrorReport }

const port = parentPort
if (port === null) throw new Error('runs as a worker thread')
const reply = (message: WorkerReply) => port.postMessage(message)

port.on('message', (job: EnvironmentJob) => {
  try {
    for (let cycle = 0; cycle < job.cycles; cycle++) {
      reply({ kind: 'hash', hash: playTrajectory(job) })
      if (cycle + 1 < job.cycles) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  } catch (error) {
    if (!(error instanceof AgentGymError)) throw error
    reply({ kind: 'failed', report: error.toReport() })
  }
})
reply({ kind: 'ready' })

/** SHA-256 over everything that comes out of `steps` vector steps; actions follow from the step's number alone. */
function playTrajectory(job: EnvironmentJob): string {
  const environment = createSandboxedEnvironment({
    ...job,
    plan: { split: 'train' },
    onBoard: (board) => reply({ kind: 'board', board }),
  })
  const { buffers, description } = environment
  const hash = createHash('sha256')
  const note = () => {
    for (const rows of [buffers.observations, buffers.finalObservations, buffers.rewards, buffers.flags]) {
      hash.update(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength))
    }
  }
  environment.reset()
  note()
  const choices = description.action.type === 'discrete' ? description.action.n : 1
  for (let step = 0; step < job.steps; step++) {
    for (let i = 0; i < buffers.actions.length; i++) buffers.actions[i] = (step * 7 + i * 3) % choices
    environment.step()
    note()
  }
  environment.metricNames()
  environment.dispose()
  return hash.digest('hex')
}
