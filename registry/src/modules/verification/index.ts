/** Re-runs agents on held-out seeds, and signs verified results. */
export { evaluateJobs } from './evaluate-jobs.ts'
export { bestReturns } from './leaderboard.ts'
export { ensureSigningKey } from './signing-keys.ts'
export { verificationModule } from './verification.module.ts'
