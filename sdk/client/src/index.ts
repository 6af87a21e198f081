export { type Client, type ClientOptions, createClient, isRefusedByProxy } from './create-client.ts'
export {
  type DownloadRequest,
  downloadPackage,
  integrityOf,
  type PublishedVersion,
  type PublishRequest,
  packagePath,
  publishPackage,
  verifyIntegrity,
  versionPath,
} from './packages.ts'
export { heldOutSeed, matchesCommitment } from './season-seed.ts'
export { verifyStatement } from './verify-statement.ts'
export { type WatchOptions, watchRun } from './watch-run.ts'
export {
  answerCalls,
  type CheckpointUpload,
  downloadCheckpoint,
  jobAddress,
  type LeaseCallsRequest,
  type LeaseTerm,
  leaseCalls,
  leaseHeaders,
  leaseJob,
  type RunEpisodeUpload,
  releaseJob,
  type SeatEnd,
  sendEvaluation,
  sendHeartbeat,
  sendOutcome,
  sendProgress,
  sendReplay,
  sendResult,
  sendRunEpisode,
  sendTrajectories,
  storeAgentParts,
  storeCheckpointParts,
  uploadAgent,
  uploadCheckpoint,
  uploadPart,
} from './worker-api.ts'
