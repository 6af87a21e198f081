import type { WorkerEvent } from '@agentgym/runtime'
import { describe, expect, it } from 'vitest'
import { describeTerminal } from '../terminal/terminal.ts'
import { workerLine } from './worker.ts'

const terminal = describeTerminal(process.stdout, { LANG: 'en_US.UTF-8' }, { color: false })

const run = '3b241101-e2bb-4255-8caf-4136c566a962'
const training = { job: run, run, kind: 'train', subject: '@acme/maze@1.0.0' } as const
const check = { job: run, kind: 'check', subject: '@acme/maze@1.0.0' } as const

describe('a line of a worker', () => {
  it.each<[WorkerEvent, string]>([
    [{ event: 'seated', run, taken: 1, workers: 2 }, 'Waiting for run 3b241101: 1 of 2 workers are there'],
    [{ event: 'leased', ...training, attempt: 1 }, 'Train on @acme/maze@1.0.0 3b241101'],
    [{ event: 'leased', ...training, attempt: 3 }, 'Train on @acme/maze@1.0.0 3b241101, attempt 3'],
    [{ event: 'leased', ...check }, 'Check @acme/maze@1.0.0'],
    [
      { event: 'progress', ...training, iteration: 7, steps: 12_345, steps_total: 100_000, return_mean: null },
      '12,345 steps (12%), return -',
    ],
    [{ event: 'finished', ...check, ok: false, failed: ['steps', 'speed'] }, 'failed: steps, speed'],
    [{ event: 'ended', ...training, state: 'cancelled' }, 'is cancelled'],
    [{ event: 'ended', ...training, state: 'budget_exceeded' }, 'used up its budget'],
    [{ event: 'released', ...training }, 'released'],
    [{ event: 'lost', ...training }, 'was reassigned to another worker'],
    [{ event: 'agent_loaded', subject: '@acme/solver@1.0.0' }, 'Run @acme/solver@1.0.0'],
    [
      { event: 'calls_answered', subject: '@acme/solver@1.0.0', calls: 1_200, failed: 0 },
      '@acme/solver@1.0.0  1,200 calls answered',
    ],
    [{ event: 'calls_answered', subject: '@acme/solver@1.0.0', calls: 1, failed: 1 }, '1 call answered, 1 failed'],
    [
      { event: 'agent_failed', subject: '@acme/solver@1.0.0', error: { code: 'model_timeout', message: 'It hangs.' } },
      '@acme/solver@1.0.0 failed: It hangs.',
    ],
    [
      { event: 'calls_dropped', subject: '@acme/solver@1.0.0', error: { code: 'lease_lost', message: 'Too late.' } },
      'Calls of @acme/solver@1.0.0 are passed to the next worker: Too late.',
    ],
    [
      { event: 'calls_unsupported', error: { code: 'endpoint_not_found', message: 'Nothing there.' } },
      'does not host agents',
    ],
  ])('says %j', (event, words) => {
    expect(workerLine(event, terminal)).toContain(words)
  })

  it('escapes untrusted text', () => {
    const error = { code: 'scenario_threw', message: '\u001b[2Jgone\u202e' } as const
    const line = workerLine({ event: 'ended', ...training, state: 'failed', error }, terminal)
    expect(line).toContain('gone')
    expect(line).not.toContain('\u001b')
    expect(line).not.toContain('\u202e')
  })
})
