import { serveInWorker } from '../sandbox/serve-in-worker.ts'
import type { HostJob } from './host-messages.ts'

/** Plays for many sessions of a scenario, until its supervisor asks for the end: each has an isolate of one thread. */
serveInWorker<HostJob>(new URL('./scenario-host.worker.ts', import.meta.url))
