import type { Migration } from './migration.ts'

/** What publishing makes of a version's own files for its pages: pictures that its README shows, and what it says has changed. */
export const versionDocuments: Migration = {
  name: '0014-version-documents',
  statements: [
    // The bytes are the object sha256/HASH.
    `create table readme_pictures (
      version_id uuid constraint readme_pictures_version_id_fkey references versions (id),
      hash text constraint readme_pictures_hash_check check (hash ~ '^[0-9a-f]{64}$'),
      type text not null
        constraint readme_pictures_type_check check (type in ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
      constraint readme_pictures_pkey primary key (version_id, hash)
    )`,
    'create index readme_pictures_hash_idx on readme_pictures (hash)',
    `create table version_changes (
      version_id uuid constraint version_changes_pkey primary key
        constraint version_changes_version_id_fkey references versions (id),
      markdown text not null,
      html text not null
    )`,
  ],
}
