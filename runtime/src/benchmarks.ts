/** What `npm run bench` measures inside the runtime; not for use by anything else. */
export { learnerBenchmark } from './learner/learner-benchmark.ts'
export { rolloutBenchmark } from './rollout/rollout-benchmark.ts'
export { scenarioCode } from './sandbox/scenario-code.ts'
