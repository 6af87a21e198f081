/** What `npm run bench` measures inside the runtime; not for use by anything else. */
export { type JointMeasurement, jointBenchmark } from './learner/joint-benchmark.ts'
export { learnerBenchmark } from './learner/learner-benchmark.ts'
export { authoringBenchmark, rolloutBenchmark } from './rollout/rollout-benchmark.ts'
export { type PlayedMeans, playScripted, scriptedPlayers, spacesOf } from './sandbox/checks/scripted-players.ts'
export { scenarioCode } from './sandbox/scenario-code.ts'
export { choiceRules } from './training/chosen-defaults.ts'
