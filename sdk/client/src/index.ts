export { type Client, type ClientOptions, createClient } from './create-client.ts'
export { type DownloadRequest, downloadPackage } from './download-package.ts'
export { answerCalls, type LeaseCallsRequest, leaseCalls } from './hosted-calls.ts'
export { integrityOf, verifyIntegrity } from './integrity.ts'
export {
  type CheckpointUpload,
  downloadCheckpoint,
  type LeaseTerm,
  leaseJob,
  releaseJob,
  sendEvaluation,
  sendHeartbeat,
  sendOutcome,
  sendProgress,
  sendResult,
  sendTrajectories,
  uploadAgent,
  uploadCheckpoint,
} from './jobs.ts'
export { packagePath, versionPath } from './package-path.ts'
export { type PublishedVersion, type PublishRequest, publishPackage } from './publish-package.ts'
export { verifyStatement } from './verify-statement.ts'
export { type WatchOptions, watchRun } from './watch-run.ts'
