import type { Migration } from './migration.ts'

/** Invitations to organizations: new members must accept one. Existing members stay members. */
export const invitations: Migration = {
  name: '0023-invitations',
  statements: [
    `create table invitations (
      organisation_id uuid not null constraint invitations_organisation_id_fkey references accounts (id),
      user_id uuid not null constraint invitations_user_id_fkey references accounts (id),
      role text not null constraint invitations_role_check check (role in ('owner', 'admin', 'member', 'viewer')),
      invited_by uuid not null constraint invitations_invited_by_fkey references accounts (id),
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      constraint invitations_pkey primary key (organisation_id, user_id)
    )`,
    'create index invitations_user_id_idx on invitations (user_id)',
    'create index invitations_expires_at_idx on invitations (expires_at)',
    `create trigger invitations_kinds before insert or update on invitations
      for each row execute function check_membership_kinds()`,
  ],
}
