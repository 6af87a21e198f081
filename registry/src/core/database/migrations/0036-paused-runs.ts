import type { Migration } from './migration.ts'

/** A run may pause at a number of steps, or on request, and be resumed. */
export const pausedRuns: Migration = {
  name: '0036-paused-runs',
  statements: [
    'alter table training_runs add column pause_at bigint constraint training_runs_pause_at_check check (pause_at > 0)',
    'alter table training_runs add column pause_requested_at timestamptz(3)',
    'alter table training_runs drop constraint training_runs_state_check',
    `alter table training_runs add constraint training_runs_state_check
      check (state in ('queued', 'running', 'completed', 'failed', 'cancelled', 'budget_exceeded', 'paused'))`,
  ],
}
