export { AgentGymError, type ErrorReport } from './agent-gym-error.ts'
export { type AgentManifest, agentManifestSchema, type Evaluation, evaluationSchema } from './agent-manifest.ts'
export {
  accountSchema,
  changePasswordRequestSchema,
  createDeviceCodeRequestSchema,
  createdTokenSchema,
  createOrganisationRequestSchema,
  createTokenRequestSchema,
  deviceCodeSchema,
  deviceTokenRequestSchema,
  deviceTokenSchema,
  logInRequestSchema,
  memberSchema,
  type OwnAccount,
  organisationSchema,
  ownAccountSchema,
  putMemberRequestSchema,
  requestPasswordResetSchema,
  resetPasswordRequestSchema,
  roleSchema,
  sessionSchema,
  signUpRequestSchema,
  type TokenScope,
  tokenListSchema,
  tokenSchema,
  tokenScopeSchema,
  verifyEmailRequestSchema,
} from './api/accounts.ts'
export {
  type Facets,
  facetsSchema,
  type ListedPackage,
  listedPackageSchema,
  type PackageList,
  type PackagePage,
  packageListSchema,
  packagePageSchema,
  type Quality,
  qualitySchema,
  type Readme,
  readmeSchema,
  type SearchRequest,
  searchRequestSchema,
  type VersionReadme,
  versionReadmeSchema,
} from './api/catalog.ts'
export { type ErrorResponse, errorReportSchema, errorResponseSchema } from './api/error.ts'
export {
  agentUploadQuerySchema,
  agentUploadSchema,
  checkpointQuerySchema,
  type EvaluationResultRequest,
  type EvaluationTaskOfJob,
  evaluationResultRequestSchema,
  type Heartbeat,
  heartbeatRequestSchema,
  heartbeatSchema,
  type JobKind,
  jobKindSchema,
  jobResultRequestSchema,
  jobResultSchema,
  type LeasedCheck,
  type LeasedEvaluation,
  type LeasedJob,
  type LeasedTraining,
  leasedJobSchema,
  leaseRequestSchema,
  type Outcome,
  outcomeRequestSchema,
  outcomeSchema,
  type ProgressRequest,
  progressRequestSchema,
  releaseRequestSchema,
  trajectoriesRequestSchema,
  type WorkerDescription,
  type WorkerUsage,
} from './api/jobs.ts'
export * from './api/market.ts'
export {
  deprecationRequestSchema,
  type LearningCurve,
  learningCurveSchema,
  publishedVersionSchema,
  publishRequestSchema,
  type ResolvedVersion,
  resolvedVersionSchema,
  resolveRequestSchema,
  type TagList,
  tagListSchema,
  tagRequestSchema,
  type VersionDetails,
  type VersionList,
  versionDetailsSchema,
  versionListSchema,
  versionStateSchema,
} from './api/packages.ts'
export { idempotencyKeySchema, type RpcMethod, rpcMethods, rpcRequestSchema, rpcResponseSchema } from './api/rpc.ts'
export {
  checkpointListSchema,
  type EvaluationJob,
  evaluateRunRequestSchema,
  evaluationJobSchema,
  type Run,
  type RunEvent,
  type RunEventData,
  type RunEventType,
  type RunState,
  resumeRunRequestSchema,
  runEventSchema,
  runListRequestSchema,
  runListSchema,
  runMetricsRequestSchema,
  runMetricsSchema,
  runSchema,
  runStateSchema,
  type ServerStatus,
  type StartRunRequest,
  serverStatusSchema,
  startRunRequestSchema,
} from './api/runs.ts'
export {
  type Leaderboard,
  leaderboardRequestSchema,
  leaderboardSchema,
  type SigningKeys,
  signingKeysSchema,
  type Verification,
  type VerificationStatement,
  verificationSchema,
  verificationStatementSchema,
} from './api/verification.ts'
export { compareEvaluations, type EvaluationDifference } from './compare-evaluations.ts'
export { type ErrorCode, errorCatalogue } from './error-catalogue.ts'
export { currencyDigits, formatAmount } from './format-amount.ts'
export { type ParsedAmount, parseAmount } from './parse-amount.ts'
export { type ActionLeaf, type ObservationLeaf, type PolicySpec, policySpecSchema } from './policy-spec.ts'
export { resolveTrainingPlan, type TrainingPlanRequest } from './resolve-training-plan.ts'
export { type SampleEpisode, sampleEpisodeLimits, sampleEpisodeSchema } from './sample-episode.ts'
export {
  type ScenarioManifest,
  type ScenarioPackage,
  type SuccessCriteria,
  scenarioManifestSchema,
  scenarioPackageSchema,
} from './scenario-manifest.ts'
export { type ScenarioView, scenarioViewSchema, type ViewedSpaces, viewProblem } from './scenario-view.ts'
export { type SpaceDescription, spaceDescriptionSchema } from './space-description.ts'
export { trainingCostMinor } from './training-cost.ts'
export {
  type CheckReport,
  checkReportSchema,
  type ProgressEvent,
  progressEventSchema,
  type ResultEvent,
  resultEventSchema,
  type TrainingEvent,
  type Trajectory,
  trainingEventSchema,
  trajectorySchema,
} from './training-events.ts'
export {
  type GrpoSettings,
  type PpoSettings,
  ppoDefaults,
  type TrainingAlgorithm,
  type TrainingPlan,
  trainingAlgorithms,
} from './training-settings.ts'
