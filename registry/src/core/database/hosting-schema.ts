import type { ColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type Nullable<Type> = ColumnType<Type | null, Type | null | undefined, Type | null>
type WithDefault<Type> = ColumnType<Type, Type | undefined, Type>

/** A call to a hosted agent. Its cost is counted in `usage_events` once it is answered. */
export type HostedCallTable = {
  /** Also the id of its usage event. */
  id: Fixed<string>
  account_id: Fixed<string>
  /** Null for a session. */
  token_id: Fixed<string | null>
  package_id: Fixed<string>
  version_id: Fixed<string>
  because: Fixed<'own' | 'free' | 'bought' | 'trial'>
  /** Price of 1,000 calls when this call was admitted. */
  price_minor: Fixed<number>
  /** Null for calls admitted before currencies were recorded: the installation's. */
  currency: Fixed<string | null>
  /** The client chose the ID and may request the answer again. */
  keyed: Fixed<boolean>
  /** SHA-256 (hex) of the request, including the version. */
  request_hash: Fixed<string>
  /** `{"observation": …, "action_mask": …}`; removed once the call has ended. */
  request: string | null
  state: WithDefault<'waiting' | 'leased' | 'answered' | 'failed'>
  lease: Nullable<string>
  leased_until: Nullable<Date>
  attempts: WithDefault<number>
  /** The response to the caller as JSON, or the error report. */
  answer: Nullable<string>
  error: Nullable<string>
  created_at: ColumnType<Date, Date | undefined, never>
  /** When the caller stops waiting. */
  expires_at: Fixed<Date>
  ended_at: Nullable<Date>
}

/** An episode of an agent with memory, by a handle of a client of MCP. */
export type HostedEpisodeTable = {
  /** SHA-256 (hex). */
  handle_hash: Fixed<string>
  account_id: Fixed<string>
  version_id: Fixed<string>
  next_step: WithDefault<number>
  /** Null before the first decision. */
  state: Nullable<string>
  /** `{"asked": hash, "decision": …}` as JSON; null before the first decision. */
  last: Nullable<string>
  used_at: WithDefault<Date>
}

export type HostingSchema = { hosted_calls: HostedCallTable; hosted_episodes: HostedEpisodeTable }
