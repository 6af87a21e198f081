/** Training runs: start, workers, data and agents. */
export { evaluationOf } from './evaluations.ts'
export { openRunServices, type RunServices } from './run-services.ts'
export { runsModule } from './runs.module.ts'
export { trainJobs } from './train-jobs.ts'
