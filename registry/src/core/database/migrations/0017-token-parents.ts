import type { Migration } from './migration.ts'

/**
 * The token that created a token, and what a worker's token is bound to. Before, a token created by another one outlived
 * it: the audit log knows the creators, so such tokens get the parent's expiry now, and its revocation.
 */
export const tokenParents: Migration = {
  name: '0017-token-parents',
  statements: [
    `alter table tokens
      add column parent_id uuid constraint tokens_parent_id_fkey references tokens (id),
      add column worker_kinds jsonb
        constraint tokens_worker_kinds_check check (jsonb_typeof(worker_kinds) = 'array'),
      add column worker_name text`,
    'create index tokens_parent_id_idx on tokens (parent_id) where parent_id is not null',
    `update tokens set parent_id = parent.id
      from audit join tokens parent on parent.id = audit.token_id
      where audit.action = 'token.create' and audit.subject = 'token:' || tokens.id
        and parent.account_id = tokens.account_id and parent.id <> tokens.id`,
    `with recursive bounded as (
        select id, expires_at, revoked_at from tokens where parent_id is null
        union all
        select tokens.id, least(tokens.expires_at, bounded.expires_at), coalesce(tokens.revoked_at, bounded.revoked_at)
        from tokens join bounded on tokens.parent_id = bounded.id
      )
      update tokens set expires_at = bounded.expires_at, revoked_at = bounded.revoked_at
      from bounded where tokens.id = bounded.id and tokens.parent_id is not null`,
  ],
}
