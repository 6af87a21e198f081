import { serveInWorker } from '../serve-in-worker.ts'
import type { InspectionJob } from './run-inspection.ts'

serveInWorker<InspectionJob>(new URL('./inspect.worker.ts', import.meta.url))
