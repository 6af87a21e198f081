/** Scenarios behind the protocols of trainers. */

export type { BuiltScenario } from '../sandbox/build-scenario.ts'
export { harnessSource } from '../sandbox/scenario-code.ts'
export { type Demonstration, type Demonstrator, playDemonstration } from './demonstrations/play-demonstration.ts'
export { type EnvServer, type EnvServerOptions, envServer } from './env-server.ts'
export { type Listening, listenEnvironments } from './listen.ts'
export { type OpenEnvPackage, openEnvPackage, type RewardRange } from './openenv/manifest.ts'
export { openEnvironment, type ServedEnvironment } from './served-environment.ts'
export { Sessions } from './sessions.ts'
export { type SplitName, splitNames, tasksIn } from './task-splits.ts'
