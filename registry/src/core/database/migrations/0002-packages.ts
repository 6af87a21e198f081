import type { Migration } from './migration.ts'

/** Packages, their versions and tags, and how often they were downloaded. */
export const packages: Migration = {
  name: '0002-packages',
  statements: [
    `create table packages (
      id uuid constraint packages_pkey primary key default gen_random_uuid(),
      name text not null constraint packages_name_key unique
        constraint packages_name_check
          check (name ~ '^@[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*$' and length(name) <= 214),
      name_canonical text not null constraint packages_name_canonical_key unique,
      owner_id uuid not null constraint packages_owner_id_fkey references accounts (id),
      kind text not null constraint packages_kind_check check (kind in ('scenario', 'agent')),
      visibility text not null default 'public'
        constraint packages_visibility_check check (visibility in ('public', 'private')),
      price_minor bigint not null default 0 constraint packages_price_minor_check check (price_minor >= 0),
      latest_version text,
      title text,
      summary text,
      category text,
      difficulty text,
      algorithm text,
      keywords jsonb not null default '[]'
        constraint packages_keywords_check check (jsonb_typeof(keywords) = 'array'),
      quality integer not null default 0 constraint packages_quality_check check (quality between 0 and 100),
      downloads bigint not null default 0 constraint packages_downloads_check check (downloads >= 0),
      updated_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      search tsvector not null default ''
    )`,
    'create index packages_owner_id_idx on packages (owner_id)',
    'create index packages_search_idx on packages using gin (search)',
    // One a sort order, with the id to break ties: read backwards they give the pages of downloads, newest and quality.
    'create index packages_downloads_idx on packages (downloads, id)',
    'create index packages_updated_at_idx on packages (updated_at, id)',
    'create index packages_quality_idx on packages (quality, id)',
    `create table versions (
      id uuid constraint versions_pkey primary key default gen_random_uuid(),
      package_id uuid not null constraint versions_package_id_fkey references packages (id),
      version text not null constraint versions_version_check check (version ~ '^[0-9]+[.][0-9]+[.][0-9]+([-+].*)?$'),
      state text not null constraint versions_state_check check (state in ('checking', 'published', 'rejected')),
      checks jsonb not null default '[]' constraint versions_checks_check check (jsonb_typeof(checks) = 'array'),
      manifest jsonb not null constraint versions_manifest_check check (jsonb_typeof(manifest) = 'object'),
      readme text not null,
      integrity text not null constraint versions_integrity_check check (integrity ~ '^sha512-[A-Za-z0-9+/]{86}==$'),
      shasum text not null constraint versions_shasum_check check (shasum ~ '^[0-9a-f]{40}$'),
      object_key text not null constraint versions_object_key_check check (object_key ~ '^sha256/[0-9a-f]{64}$'),
      size integer not null constraint versions_size_check check (size >= 0),
      unpacked_size integer not null constraint versions_unpacked_size_check check (unpacked_size >= 0),
      file_count integer not null constraint versions_file_count_check check (file_count >= 0),
      bundle_hash text constraint versions_bundle_hash_check check (bundle_hash ~ '^[0-9a-f]{64}$'),
      deprecated text,
      yanked_at timestamptz(3),
      published_by uuid not null constraint versions_published_by_fkey references accounts (id),
      intended_tag text not null,
      published_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      downloads bigint not null default 0 constraint versions_downloads_check check (downloads >= 0),
      constraint versions_package_id_version_key unique (package_id, version),
      constraint versions_published_at_check check ((state = 'published') = (published_at is not null))
    )`,
    'create index versions_object_key_idx on versions (object_key)',
    'create index versions_published_by_idx on versions (published_by)',
    `create index versions_checking_idx on versions (created_at) where state = 'checking'`,
    `create table tags (
      package_id uuid not null constraint tags_package_id_fkey references packages (id),
      tag text not null constraint tags_tag_check check (tag <> ''),
      version text not null,
      updated_at timestamptz(3) not null default now(),
      constraint tags_pkey primary key (package_id, tag),
      constraint tags_version_fkey foreign key (package_id, version) references versions (package_id, version)
    )`,
    'create index tags_version_idx on tags (package_id, version)',
    // Checked at commit, for the package is there before its first version.
    `alter table packages add constraint packages_latest_version_fkey
      foreign key (id, latest_version) references versions (package_id, version) deferrable initially deferred`,
    `create table downloads (
      version_id uuid not null constraint downloads_version_id_fkey references versions (id),
      day date not null,
      client text not null,
      created_at timestamptz(3) not null default now(),
      constraint downloads_pkey primary key (version_id, day, client)
    )`,
    'create index downloads_day_idx on downloads (day)',
    `create trigger packages_fixed before update on packages for each row
      when ((old.id, old.name, old.name_canonical, old.owner_id, old.kind, old.created_at)
        is distinct from (new.id, new.name, new.name_canonical, new.owner_id, new.kind, new.created_at))
      execute function refuse('what a package is does not change')`,
    `create trigger packages_kept before delete on packages
      for each row execute function refuse('a name that was published is never free again')`,
    // In lists by column, so that counting a download does not compare manifests and READMEs.
    `create trigger versions_immutable
      before update of id, package_id, version, manifest, readme, integrity, shasum, object_key, size, unpacked_size,
        file_count, bundle_hash, published_by, intended_tag, created_at
      on versions for each row
      when ((old.id, old.package_id, old.version, old.manifest, old.readme, old.integrity, old.shasum, old.object_key,
          old.size, old.unpacked_size, old.file_count, old.bundle_hash, old.published_by, old.intended_tag, old.created_at)
        is distinct from (new.id, new.package_id, new.version, new.manifest, new.readme, new.integrity, new.shasum,
          new.object_key, new.size, new.unpacked_size, new.file_count, new.bundle_hash, new.published_by,
          new.intended_tag, new.created_at))
      execute function refuse('a version is immutable')`,
    `create trigger versions_decided_once before update of state, published_at on versions for each row
      when (old.state <> 'checking'
        and (old.state, old.published_at) is distinct from (new.state, new.published_at))
      execute function refuse('a version is published or rejected once')`,
    `create trigger versions_kept before delete on versions
      for each row execute function refuse('a version is never deleted, and its number never used again')`,
    `create trigger versions_kept_truncate before truncate on versions
      for each statement execute function refuse('a version is never deleted, and its number never used again')`,
  ],
}
