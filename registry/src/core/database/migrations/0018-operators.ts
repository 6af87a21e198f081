import type { Migration } from './migration.ts'

/** Whether an operator has claimed the installation; it stays claimed. Why an account is disabled. */
export const operators: Migration = {
  name: '0018-operators',
  statements: [
    `insert into installation (name, value)
      select 'operator_claimed', min(created_at)::text from accounts where operator having count(*) > 0`,
    'alter table accounts add column disabled_reason text',
  ],
}
