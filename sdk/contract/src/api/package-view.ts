import { z } from 'zod'
import { sampleEpisodeSchema } from '../sample-episode.ts'
import { packagePageSchema } from './catalog.ts'
import { versionDetailsSchema } from './packages.ts'
import { offerSchema } from './prices.ts'

/** What the first page of a package shows, in one answer instead of four. */
export const packageViewSchema = z
  .object({
    page: packagePageSchema,
    /** Of `latest`; null where nothing is to be had. */
    offer: z.union([offerSchema, z.null()]),
    /** The version that `page.latest` names; null where that is. */
    latest: z
      .object({
        details: versionDetailsSchema,
        /** Null where nobody has written one down. */
        episode: z.union([sampleEpisodeSchema, z.null()]),
      })
      .nullable(),
  })
  .meta({ id: 'PackageView' })
export type PackageView = z.infer<typeof packageViewSchema>
