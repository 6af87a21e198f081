import type { Migration } from './migration.ts'

/** A resumed run is paid by who resumes it, so each charge names the token that its part of the budget was started with. */
export const chargedTokens: Migration = {
  name: '0030-charged-tokens',
  statements: [
    `alter table training_charges add column token_id uuid
      constraint training_charges_token_id_fkey references tokens (id)`,
    'alter table training_charges disable trigger training_charges_fixed',
    `update training_charges set token_id = training_runs.token_id from training_runs
      where training_runs.id = training_charges.run_id and training_runs.token_id is not null`,
    'alter table training_charges enable trigger training_charges_fixed',
    'create index training_charges_token_idx on training_charges (token_id, created_at) where token_id is not null',
  ],
}
