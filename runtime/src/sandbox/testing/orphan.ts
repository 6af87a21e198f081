import process from 'node:process'
import { superviseJob } from '../supervisor.ts'
import type { Probe } from './probe.process.ts'

/**
 * A supervisor that a test kills: prints its job's process id, then waits for a job that never ends. With the argument
 * `block`, the job's main thread does nothing else any more.
 */
const probe: Probe = { act: process.argv[2] === 'block' ? 'block' : 'wait' }
await superviseJob({
  entry: new URL('./probe.process.ts', import.meta.url),
  job: probe,
  identity: { name: 'orphan', version: '1.0.0', hash: '' },
  onMessage: (pid) => void process.stdout.write(`${pid}\n`),
})
