import type { Migration } from './migration.ts'

/**
 * What counts of a version's verifications: the latest one that decides something. Every reader of results uses this
 * view; `verifications` itself is their history.
 */
export const verdicts: Migration = {
  name: '0016-verdicts',
  statements: [
    `create view verdicts as
      select verdict.* from verifications verdict
      where verdict.state in ('verified', 'mismatch') and not exists (
        select from verifications later
        where later.version_id = verdict.version_id and later.state in ('verified', 'mismatch')
          and (later.created_at, later.evaluation_id) > (verdict.created_at, verdict.evaluation_id))`,
  ],
}
