import type { ColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type Nullable<Type> = ColumnType<Type | null, Type | null | undefined, Type | null>
type WithDefault<Type> = ColumnType<Type, Type | undefined, Type>

/** A call of an agent by its caller. What it costs is counted in `usage_events` once it is answered. */
export type HostedCallTable = {
  /** Also of its usage event. */
  id: Fixed<string>
  account_id: Fixed<string>
  /** Null for a session. */
  token_id: Fixed<string | null>
  package_id: Fixed<string>
  version_id: Fixed<string>
  because: Fixed<'own' | 'free' | 'bought' | 'trial'>
  /** Of 1,000 calls, when it was admitted. */
  price_minor: Fixed<number>
  /** The client gave the id, and may ask for the answer again. */
  keyed: Fixed<boolean>
  /** SHA-256 (hex) of what was asked, version included. */
  request_hash: Fixed<string>
  /** `{"observation": …, "action_mask": …}`; gone once it has ended. */
  request: string | null
  state: WithDefault<'waiting' | 'leased' | 'answered' | 'failed'>
  lease: Nullable<string>
  leased_until: Nullable<Date>
  attempts: WithDefault<number>
  /** The answer to the caller as JSON, and the report of what failed. */
  answer: Nullable<string>
  error: Nullable<string>
  created_at: ColumnType<Date, Date | undefined, never>
  /** Nobody waits for it any longer. */
  expires_at: Fixed<Date>
  ended_at: Nullable<Date>
}

export type HostingSchema = { hosted_calls: HostedCallTable }
