export { readAgent } from '@agentgym/agent/engine'
export { type EvaluateOptions, evaluateAgent, scenarioOfAgent } from './evaluation/evaluate-agent.ts'
export {
  estimatePolicy,
  type LoggedDecision,
  type LoggedTrajectory,
  type PolicyEstimate,
} from './evaluation/offline/estimate-policy.ts'
export { runtimeSignature } from './evaluation/runtime-signature.ts'
export { type EnvironmentTarget, parseEnvironmentTarget } from './external/environment-target.ts'
export {
  type OpenEnvironmentOptions,
  type OpenedEnvironment,
  openEnvironmentTarget,
  type RunSubject,
} from './external/opened-environment.ts'
export { openPlay, type PlayedStep, type PlaySession } from './playing/play-session.ts'
export { type BuiltScenario, buildScenario, loadScenario, writeBuild } from './sandbox/build-scenario.ts'
export { checkScenario } from './sandbox/check-scenario.ts'
export type { DoctorReport } from './sandbox/inspection/doctor-report.ts'
export type { ScenarioProfile } from './sandbox/inspection/profile-report.ts'
export { diagnoseScenario, diffScenarios, profileScenario } from './sandbox/inspection/run-inspection.ts'
export { describeChange, type VersionChanges } from './sandbox/inspection/version-changes.ts'
export { publishedSourceMap } from './sandbox/source-place.ts'
export { writeScenarioLibrary } from './sandbox/type-check.ts'
export { machineWalls, type Walls } from './sandbox/walls.ts'
export { readFrozenWeights } from './training/frozen-weights.ts'
export { drawSeedCurves, type SeedCurves } from './training/learning-curve.ts'
export { packageNameOf } from './training/package-agent.ts'
export { lockRun, writeAtomically } from './training/run-folder.ts'
export { checkpointPath, continuedPlan, readSavedRun, type SavedRun } from './training/saved-run.ts'
export { type PlanRequest, resolvePlan } from './training/settings.ts'
export { type TrainOptions, train } from './training/train.ts'
export { readWarmStart, type WarmStart, warmStartPlan } from './training/warm-start.ts'
export { Asha, rungsOf, runStudy, type TuningJob, type TuningScore } from './tuning/asha.ts'
export { type Importance, settingImportance } from './tuning/importance.ts'
export { type PairedInterval, pairedInterval } from './tuning/paired-interval.ts'
export { drawSettings, searchSpaces } from './tuning/search-space.ts'
export { drawStudy } from './tuning/study-picture.ts'
export { trainCandidate, trainWhole } from './tuning/train-candidate.ts'
export { describeMachine } from './worker/machine.ts'
export { runWorker, type WorkerOptions } from './worker/run-worker.ts'
export type { WorkerEvent } from './worker/worker-event.ts'
