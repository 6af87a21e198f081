/** Episodes that people played and keep: replayed by workers, a baseline on the leaderboard, files to train from. */
export { demonstrationsModule } from './demonstrations.module.ts'
export { findRemovedEpisode, restoreEpisode } from './demonstrations.store.ts'
export { peopleBaseline } from './people-baseline.ts'
export { replayJobs } from './replay-jobs.ts'
