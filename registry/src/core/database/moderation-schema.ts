import type { ColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>
type CreatedAt = ColumnType<Date, Date | undefined, never>
type Id = ColumnType<string, string | undefined, never>

/** Accounts that downloaded a package, and since when. */
export type PackageUserTable = { account_id: Fixed<string>; package_id: Fixed<string>; first_at: CreatedAt }

/** One row: the mean that ratings are weighted towards. */
export type RatingPriorTable = { only_row: ColumnType<boolean, never, never>; mean: number }

/** Buyers owed a refund: for one version, or for every version of a package. */
export type OwedRefundTable = {
  id: Id
  package_id: Fixed<string>
  version_id: ColumnType<string | null, string | null | undefined, never>
  /** Applies to orders paid from this time on. */
  paid_since: Fixed<Date>
  reason: Fixed<string>
  created_at: CreatedAt
  done_at: ColumnType<Date | null, never, Date>
}

export type ModerationSchema = {
  package_users: PackageUserTable
  rating_prior: RatingPriorTable
  owed_refunds: OwedRefundTable
}
