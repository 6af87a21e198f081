import type { Migration } from './migration.ts'

/** Appeals of hidden reviews and removed episodes; episodes that operators remove are kept, in case they are restored. */
export const appeals: Migration = {
  name: '0050-appeals',
  statements: [
    'alter table reviews add column hidden_reason text',
    `update reviews set hidden_reason = (select audit.data ->> 'reason' from audit
      where audit.action = 'review.hide' and audit.data ->> 'review' = reviews.id::text order by audit.id desc limit 1)
      where hidden_at is not null`,
    `alter table demonstrations add column removed_at timestamptz(3), add column removed_reason text,
      add constraint demonstrations_removed_check check ((removed_at is null) = (removed_reason is null))`,
    // No foreign key: its person may delete the episode, and reports are kept.
    'alter table reports add column demonstration_id uuid, add column appealed_reason text',
    'drop index reports_open_key',
    `create unique index reports_open_key on reports (package_id, review_id, demonstration_id, reported_by, (reason = 'appeal'))
      nulls not distinct where state = 'open'`,
    "create index reports_review_appeals_idx on reports (review_id) where reason = 'appeal'",
    "create index reports_demonstration_appeals_idx on reports (demonstration_id) where reason = 'appeal'",
  ],
}
