import type { ColumnType, Generated, JSONColumnType } from 'kysely'
import type { HostingSchema } from './hosting-schema.ts'
import type { LedgerSchema } from './ledger-schema.ts'
import type { MarketSchema } from './market-schema.ts'
import type { ModerationSchema } from './moderation-schema.ts'
import type { PicturesSchema } from './pictures-schema.ts'
import type { TrainingSchema } from './training-schema.ts'

/** What was written once and is never changed: no update type. */
type Fixed<Type> = ColumnType<Type, Type, never>
type CreatedAt = ColumnType<Date, Date | undefined, never>
/** uuid, made by the database where absent (`gen_random_uuid()`). */
type Id = ColumnType<string, string | undefined, never>
/** bigint; the drivers give it as string, `openDatabase` makes both give a JavaScript bigint or a safe number: see there. */
type Counter = ColumnType<number, number | undefined, number>

export type Role = 'owner' | 'admin' | 'member' | 'viewer'
export type VersionState = 'checking' | 'published' | 'rejected'

/** Users and organisations: whoever can own a scope. `username` is the scope's name without `@`. */
export type AccountTable = {
  id: Id
  kind: Fixed<'user' | 'organisation'>
  /** Lower case. */
  username: Fixed<string>
  /** Look-alikes share one: lower case without `._-`, l and i as 1, o as 0. Unique. */
  username_canonical: Fixed<string>
  display_name: string | null
  /** Users only; unique, lower case. */
  email: string | null
  email_verified_at: Date | null
  /** Argon2id; null for organisations and for those who only log in through OAuth. */
  password_hash: string | null
  /** May operate this installation: quarantine, worker tokens. */
  operator: Generated<boolean>
  disabled_at: Date | null
  created_at: CreatedAt
}

export type MembershipTable = {
  organisation_id: Fixed<string>
  user_id: Fixed<string>
  role: Role
  created_at: CreatedAt
}

export type SessionTable = {
  /** SHA-256 (hex) of what the cookie holds. */
  id: Fixed<string>
  user_id: Fixed<string>
  expires_at: Date
  created_at: CreatedAt
}

export type TokenTable = {
  id: Id
  account_id: Fixed<string>
  name: Fixed<string>
  /** SHA-256 (hex) of the token; the token itself is shown once. */
  hash: Fixed<string>
  /** First characters, so that people can tell their tokens apart. */
  prefix: Fixed<string>
  /** Scopes: see auth. */
  scopes: JSONColumnType<string[]>
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
  created_at: CreatedAt
}

/** Single-use links sent by mail. */
export type MailTokenTable = {
  hash: Fixed<string>
  account_id: Fixed<string>
  purpose: Fixed<'verify' | 'reset'>
  email: Fixed<string>
  expires_at: Fixed<Date>
  used_at: Date | null
  created_at: CreatedAt
}

/** `agentgym login` in a browser (RFC 8628). */
export type DeviceCodeTable = {
  hash: Fixed<string>
  user_code: Fixed<string>
  name: Fixed<string>
  scopes: JSONColumnType<string[]>
  account_id: string | null
  state: Generated<'pending' | 'approved' | 'denied' | 'used'>
  polled_at: Date | null
  expires_at: Fixed<Date>
  created_at: CreatedAt
}

export type OauthIdentityTable = {
  provider: Fixed<string>
  subject: Fixed<string>
  account_id: Fixed<string>
  created_at: CreatedAt
}

/** Fixed windows, shared by all replicas. */
export type RateLimitTable = { key: string; window_start: Date; count: number }

/** Append-only: a trigger refuses update and delete. Written in the transaction of what it records. */
export type AuditTable = {
  id: Generated<number>
  at: CreatedAt
  actor_id: Fixed<string | null>
  token_id: Fixed<string | null>
  action: Fixed<string>
  subject: Fixed<string>
  ip: Fixed<string | null>
  data: JSONColumnType<Record<string, unknown>, Record<string, unknown>, never>
}

export type PackageTable = {
  id: Id
  /** `@scope/name`, lower case. Unique. */
  name: Fixed<string>
  /** Look-alikes within a scope share one. Unique. */
  name_canonical: Fixed<string>
  owner_id: Fixed<string>
  kind: Fixed<'scenario' | 'agent'>
  visibility: Generated<'public' | 'private'>
  /** Minor units; 0 is free. As lists show it: what holds is the latest entry of `prices`. */
  price_minor: Counter
  price_kind: Generated<'free' | 'one_time' | 'per_run'>
  /** Weighted mean of its reviews' stars, and how many there are; kept by the market. */
  rating: number | null
  votes: Generated<number>
  taken_down_at: Date | null
  taken_down_reason: string | null
  /** Malicious: not even those who bought it get it any more. */
  taken_down_for_all: Generated<boolean>
  /** The following describe the version that `latest` names; null before one is published. */
  latest_version: string | null
  title: string | null
  summary: string | null
  category: string | null
  difficulty: string | null
  algorithm: string | null
  keywords: JSONColumnType<string[]>
  /** 0 to 100. */
  quality: Generated<number>
  downloads: Counter
  /** Last publish. */
  updated_at: Generated<Date>
  created_at: CreatedAt
  /** tsvector of everything that finds it, kept by the catalogue when `latest` moves. */
  search: ColumnType<string, never, string>
  /** tsvector without the README: what orders the found ones. */
  search_rank: ColumnType<string, never, string>
}

export type VersionCheck = { id: string; ok: boolean; message: string }

export type VersionTable = {
  id: Id
  package_id: Fixed<string>
  version: Fixed<string>
  state: VersionState
  /** What vetting and the sandbox found, with how to mend each. */
  checks: JSONColumnType<VersionCheck[]>
  /** package.json as published, the one source of the packument. */
  manifest: JSONColumnType<Record<string, unknown>, string, never>
  readme: Fixed<string>
  /** `sha512-…` (base64), as npm's lockfiles hold it. */
  integrity: Fixed<string>
  /** SHA-1 (hex), for old clients. */
  shasum: Fixed<string>
  /** Key of the tarball in the ObjectStore. */
  object_key: Fixed<string>
  size: Fixed<number>
  unpacked_size: Fixed<number>
  file_count: Fixed<number>
  /** SHA-256 (hex) of dist/scenario.js; null for agents. */
  bundle_hash: Fixed<string | null>
  deprecated: string | null
  yanked_at: Date | null
  published_by: Fixed<string>
  /** What `latest` or the asked-for tag becomes once the version is published. */
  intended_tag: Fixed<string>
  published_at: Date | null
  created_at: CreatedAt
  downloads: Counter
}

export type TagTable = { package_id: Fixed<string>; tag: Fixed<string>; version: string; updated_at: Generated<Date> }

/** One row a version, day and client, so that one client's loop counts once. `client` is a salted hash. */
export type DownloadTable = {
  version_id: Fixed<string>
  day: Fixed<string>
  client: Fixed<string>
  created_at: CreatedAt
}

/** How many listed public packages there are of each combination; '' where a package has none. Kept by triggers. */
export type PackageCountTable = {
  kind: Fixed<'scenario' | 'agent'>
  category: Fixed<string>
  difficulty: Fixed<string>
  algorithm: Fixed<string>
  paid: Fixed<boolean>
  packages: Fixed<number>
}

/** What all replicas share beside the data: the installation's secret. */
export type InstallationTable = { name: Fixed<string>; value: Fixed<string> }

/** Work for workers: see core/queue, which alone reads and writes it. */
export type JobTable = {
  kind: Fixed<'check' | 'evaluate' | 'train'>
  id: Fixed<string>
  state: 'waiting' | 'leased' | 'exhausted' | 'over'
  priority: Generated<number>
  leases: Generated<number>
  attempts: Generated<number>
  worker_id: string | null
  leased_at: Date | null
  leased_until: Date | null
  created_at: CreatedAt
  ended_at: Date | null
}

/** When a task of upkeep is due again: whichever replica moves it on does the task. */
export type UpkeepTable = { task: Fixed<string>; next_at: Date }

/** A version's README as HTML; `rendering` says by which edition of the sanitiser. */
export type ReadmeHtmlTable = { version_id: Fixed<string>; rendering: number; html: string }

export type Schema = TrainingSchema &
  LedgerSchema &
  MarketSchema &
  HostingSchema &
  ModerationSchema &
  PicturesSchema & {
    accounts: AccountTable
    memberships: MembershipTable
    sessions: SessionTable
    tokens: TokenTable
    mail_tokens: MailTokenTable
    device_codes: DeviceCodeTable
    oauth_identities: OauthIdentityTable
    rate_limits: RateLimitTable
    audit: AuditTable
    packages: PackageTable
    versions: VersionTable
    tags: TagTable
    downloads: DownloadTable
    package_counts: PackageCountTable
    installation: InstallationTable
    jobs: JobTable
    upkeep: UpkeepTable
    readme_html: ReadmeHtmlTable
  }
