import type { Migration } from './migration.ts'

/** Pages show the plain mean of a package's stars; `rating`, weighted while votes are few, only ranks. */
export const starMean: Migration = {
  name: '0026-star-mean',
  statements: [
    'alter table packages add column star_mean double precision',
    // The sum of the stars, from the weighted mean: 8 votes of the prior. The scheduled task corrects what rounding hid.
    `update packages set star_mean = least(5, greatest(1,
        round((rating * (8 + votes) - 8 * rating_prior.mean)::numeric) / votes))
      from rating_prior where votes > 0 and rating is not null`,
  ],
}
