import { serveInWorker } from '../serve-in-worker.ts'
import type { CheckJob } from './check-messages.ts'

serveInWorker<CheckJob>(new URL('./check.worker.ts', import.meta.url))
