import { z } from 'zod'

// What the command reads of the answers about versions. A newer server may say more.

const versionStateSchema = z.enum(['checking', 'published', 'rejected'])
export type VersionState = z.infer<typeof versionStateSchema>

const checkSchema = z.object({ id: z.string(), ok: z.boolean(), message: z.string() })
export type VersionCheck = z.infer<typeof checkSchema>

export const versionAnswer = z.looseObject({
  name: z.string(),
  version: z.string(),
  state: versionStateSchema,
  integrity: z.string(),
  checks: z.array(checkSchema).nullish(),
  deprecated: z.string().nullish(),
  yanked: z.boolean().nullish(),
})
export type VersionAnswer = z.infer<typeof versionAnswer>

export const versionsAnswer = z.looseObject({
  versions: z.array(
    z.looseObject({
      version: z.string(),
      state: versionStateSchema.nullish(),
      published_at: z.string().nullish(),
      deprecated: z.string().nullish(),
      yanked: z.boolean().nullish(),
    }),
  ),
  tags: z.record(z.string(), z.string()).nullish(),
})

export const resolvedAnswer = z.looseObject({
  version: z.string(),
  integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'a sha512 integrity'),
  tarball: z.string(),
  deprecated: z.string().nullish(),
  yanked: z.boolean().nullish(),
})
export type ResolvedPackage = z.infer<typeof resolvedAnswer>
