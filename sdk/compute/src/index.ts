export {
  type ComputeProvider,
  cheapestFirst,
  costCents,
  type GpuNeed,
  type GpuOffer,
  type ProviderName,
  providerNames,
  type RentedWorker,
  runOf,
  type WorkerOrder,
  workerNameOf,
} from './compute-provider.ts'
export { findProvider, requireProvider } from './find-provider.ts'
export { endWorkerOf, findWorkerOf, rentWorker } from './rent-worker.ts'
export { endOwnPod } from './runpod.ts'
export { type RunFate, type SweptWorker, sweepWorkers } from './sweep-workers.ts'
