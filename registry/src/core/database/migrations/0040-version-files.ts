import type { Migration } from './migration.ts'

/** The files of versions, for pages that show them. A scheduled task adds those of earlier versions. */
export const versionFiles: Migration = {
  name: '0040-version-files',
  compatible: true,
  statements: [
    `create table version_files (
      version_id uuid constraint version_files_version_id_fkey references versions (id),
      path text not null,
      size bigint not null,
      -- SHA-256 (hex)
      hash text not null,
      -- Null for binary files, and for what is too large to show.
      text text,
      constraint version_files_pkey primary key (version_id, path)
    )`,
    'alter table versions add column files_kept boolean not null default false',
    'create index versions_files_kept_idx on versions (created_at) where not files_kept',
  ],
}
