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
export { type ErrorResponse, errorResponseSchema } from './api/error.ts'
export {
  heartbeatRequestSchema,
  heartbeatSchema,
  type JobKind,
  jobKindSchema,
  jobResultRequestSchema,
  jobResultSchema,
  type LeasedJob,
  leasedJobSchema,
  leaseRequestSchema,
} from './api/jobs.ts'
export {
  deprecationRequestSchema,
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
export { type ErrorCode, errorCatalogue } from './error-catalogue.ts'
export { type ActionLeaf, type ObservationLeaf, type PolicySpec, policySpecSchema } from './policy-spec.ts'
export { resolveTrainingPlan, type TrainingPlanRequest } from './resolve-training-plan.ts'
export {
  type ScenarioManifest,
  type ScenarioPackage,
  type SuccessCriteria,
  scenarioManifestSchema,
  scenarioPackageSchema,
} from './scenario-manifest.ts'
export { type SpaceDescription, spaceDescriptionSchema } from './space-description.ts'
export {
  type CheckReport,
  checkReportSchema,
  type ProgressEvent,
  progressEventSchema,
  type ResultEvent,
  resultEventSchema,
  type TrainingEvent,
  trainingEventSchema,
} from './training-events.ts'
export {
  type GrpoSettings,
  type PpoSettings,
  ppoDefaults,
  type TrainingAlgorithm,
  type TrainingPlan,
  trainingAlgorithms,
} from './training-settings.ts'
