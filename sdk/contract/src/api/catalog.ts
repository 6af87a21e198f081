import { z } from 'zod'
import { evaluationSchema } from '../agent-manifest.ts'
import { currencySchema } from '../amounts.ts'
import { sampleEpisodeSchema } from '../sample-episode.ts'
import { scenarioCheckSchema } from '../training-events.ts'
import { learningCurveSchema, versionDetailsSchema } from './packages.ts'
import { offerSchema, priceKindSchema } from './prices.ts'

const packageKindSchema = z.enum(['scenario', 'agent'])
const difficultySchema = z.enum(['beginner', 'intermediate', 'advanced', 'expert'])
const printable = /^\P{C}+$/u
const timeSchema = z.iso.datetime()

/** The query of `GET /v1/packages`. */
export const searchRequestSchema = z.object({
  q: z
    .string()
    .max(200)
    .optional()
    .describe('Search words; the last one matches as a prefix. Names match with and without their scope.'),
  kind: packageKindSchema.optional(),
  category: z.string().max(80).regex(printable).optional(),
  difficulty: difficultySchema.optional(),
  algorithm: z.string().max(40).regex(printable).optional(),
  price: z.enum(['free', 'paid']).optional(),
  scenario: z
    .string()
    .max(214)
    .regex(printable)
    .optional()
    .describe('Only agents trained on this scenario, such as `@acme/cart-pole`.'),
  solved: z
    .enum(['yes', 'no'])
    .optional()
    .describe('Only agents: `yes` are those that are verified and meet all targets of their scenario.'),
  sort: z
    .enum(['relevance', 'downloads', 'newest', 'quality'])
    .default('relevance')
    .describe('Without words in `q`, `relevance` is the same as `downloads`.'),
  cursor: z
    .string()
    .max(600)
    .optional()
    .describe('`next_cursor` of the previous page. Keep `q`, filters and `sort` the same.'),
  limit: z.coerce.number().int().min(1).max(100).default(20),
})
export type SearchRequest = z.infer<typeof searchRequestSchema>

/** A package as lists show it: its latest version's title, summary and so on. */
const packageFields = {
  name: z.string(),
  kind: packageKindSchema,
  visibility: z.enum(['public', 'private']),
  /** Minor units; 0 is free. Lists may show a price that takes effect some seconds later than it does. */
  price_minor: z.int().nonnegative(),
  price_kind: priceKindSchema,
  /** ISO 4217, of the price. */
  currency: currencySchema,
  /** Mean of its stars, and how many votes there are; null without any. */
  rating: z.number().nullable(),
  votes: z.int().nonnegative(),
  title: z.string().nullable(),
  summary: z.string().nullable(),
  category: z.string().nullable(),
  difficulty: z.string().nullable(),
  algorithm: z.string().nullable(),
  keywords: z.array(z.string()),
  /** Of an agent: the scenario that it was trained on. Absent in older servers. */
  trained_on: z.string().nullable().optional(),
  latest_version: z.string().nullable(),
  /** Clients that downloaded it, each once a day. */
  downloads: z.int().nonnegative(),
  /** Completed training runs on the server, and plays in the page, each visitor once a day. Absent in older servers. */
  trainings: z.int().nonnegative().optional(),
  plays: z.int().nonnegative().optional(),
  created_at: timeSchema,
  /** Last publish. */
  updated_at: timeSchema,
}

/** The query of `GET /v1/package-names`. */
export const packageNamesRequestSchema = z.object({ page: z.coerce.number().int().min(1).max(50_000).default(1) })

export const packageNamesSchema = z
  .object({
    packages: z.array(
      z.object({
        name: z.string(),
        /** Last publish. */
        updated_at: timeSchema,
      }),
    ),
    /** Number of pages. */
    pages: z.int().positive(),
  })
  .meta({ id: 'PackageNames' })
export type PackageNames = z.infer<typeof packageNamesSchema>

const bestReturnSchema = z
  .object({
    /** Whose it is: of a scenario the best public agent that was verified on its latest version. */
    agent: z.string(),
    version: z.string(),
    /** Held-out mean return, as this server measured it. */
    return_mean: z.number(),
    /** Held-out results against the scenario's targets. Absent in older servers. */
    outcome: evaluationSchema.shape.success.optional(),
    /** Whether it has a sample episode. Absent in older servers. */
    recorded: z.boolean().optional(),
    /** How it learned, at most 24 points; empty where no run of this server trained it. */
    curve: learningCurveSchema,
  })
  .meta({ id: 'BestReturn' })
export type BestReturn = z.infer<typeof bestReturnSchema>

export const listedPackageSchema = z
  .object({
    ...packageFields,
    quality: z.int().min(0).max(100),
    /** Null where nothing of its latest version is verified. */
    best_return: z.union([bestReturnSchema, z.null()]),
  })
  .meta({ id: 'ListedPackage' })
export type ListedPackage = z.infer<typeof listedPackageSchema>

const facetSchema = z.array(z.object({ value: z.string(), count: z.int().nonnegative() }))

/** How many packages each value would give; a facet's own filter is left out of its counts. Most frequent first. */
export const facetsSchema = z
  .object({
    kind: facetSchema,
    category: facetSchema,
    difficulty: facetSchema,
    algorithm: facetSchema,
    price: facetSchema,
    /** Of lists of agents (`kind`, `scenario` or `solved` is set); otherwise empty. Absent in older servers. */
    scenario: facetSchema.optional(),
    solved: facetSchema.optional(),
  })
  .meta({ id: 'Facets' })
export type Facets = z.infer<typeof facetsSchema>

export const packageListSchema = z
  .object({
    packages: z.array(listedPackageSchema),
    /** Packages that match, on all pages. */
    total: z.int().nonnegative(),
    facets: facetsSchema,
    /** Null on the last page. */
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'PackageList' })
export type PackageList = z.infer<typeof packageListSchema>

/** A publisher with the packages that the caller can see. */
export const publisherSchema = z
  .object({
    username: z.string(),
    kind: z.enum(['user', 'organisation']),
    display_name: z.string().nullable(),
    created_at: timeSchema,
    /** Of all packages that the caller can see. */
    counts: z.object({
      scenarios: z.int().nonnegative(),
      agents: z.int().nonnegative(),
      downloads: z.int().nonnegative(),
    }),
    /** The latest published first; at most 100. */
    packages: z.array(listedPackageSchema),
  })
  .meta({ id: 'Publisher' })
export type Publisher = z.infer<typeof publisherSchema>

/** A score and what it is made of; each part says why it is what it is. */
export const qualitySchema = z
  .object({
    score: z.int().min(0).max(100),
    parts: z.array(
      z.object({
        id: z.enum(['docs', 'checks', 'determinism', 'baselines', 'speed', 'maintenance']),
        points: z.int().nonnegative(),
        of: z.int().positive(),
        why: z.string(),
      }),
    ),
  })
  .meta({ id: 'Quality' })
export type Quality = z.infer<typeof qualitySchema>

/** A README: as written, and as HTML that is safe to show. */
export const readmeSchema = z
  .object({
    markdown: z.string(),
    /** Without scripts, styles, forms and raw HTML; links go to http(s) and mailto only. */
    html: z.string(),
  })
  .meta({ id: 'Readme' })
export type Readme = z.infer<typeof readmeSchema>

export const versionReadmeSchema = readmeSchema
  .extend({ name: z.string(), version: z.string() })
  .meta({ id: 'VersionReadme' })
export type VersionReadme = z.infer<typeof versionReadmeSchema>

/** What needs a package, at most a hundred of each, the most downloaded first. */
export const dependentsSchema = z
  .object({
    name: z.string(),
    /** Agents that were verified on one of its versions. */
    agents: z.array(
      z.object({ name: z.string(), version: z.string(), title: z.string().nullable(), scenario_version: z.string() }),
    ),
    /** Packages whose latest version names it as a dependency, with the range. */
    packages: z.array(
      z.object({ name: z.string(), version: z.string(), title: z.string().nullable(), range: z.string() }),
    ),
  })
  .meta({ id: 'Dependents' })
export type Dependents = z.infer<typeof dependentsSchema>

const pageVersionSchema = z.object({
  version: z.string(),
  published_at: timeSchema,
  license: z.string().nullable(),
  homepage: z.string().nullable(),
  repository: z.string().nullable(),
  published_by: z.string(),
  /** `sha512-…` (base64) of the tarball. */
  integrity: z.string(),
  tarball: z.string(),
  size: z.int().nonnegative(),
  unpacked_size: z.int().nonnegative(),
  file_count: z.int().nonnegative(),
  /** SHA-256 (hex) of dist/scenario.js; null for agents. */
  bundle_hash: z.string().nullable(),
  downloads: z.int().nonnegative(),
  deprecated: z.string().nullable(),
  yanked: z.boolean(),
  checks: z.array(z.object(scenarioCheckSchema.shape)),
  /** The field `agentgym` of its package.json. */
  agentgym: z.record(z.string(), z.unknown()),
})

/** Everything that a package's page shows, in one answer. */
export const packagePageSchema = z
  .object({
    ...packageFields,
    owner: z.object({
      username: z.string(),
      kind: z.enum(['user', 'organisation']),
      display_name: z.string().nullable(),
    }),
    /** By the operators of the server. README and version are then shown to members, buyers and operators only. */
    taken_down: z.object({ at: timeSchema, reason: z.string().nullable() }).nullable(),
    /** What `latest_version` names; null before one is published. */
    latest: pageVersionSchema.nullable(),
    readme: z.union([readmeSchema, z.null()]),
    quality: qualitySchema,
    tags: z.record(z.string(), z.string()),
    /** Of a scenario: the most similar public ones first. Absent in older servers. */
    similar: z
      .array(
        z.object({
          name: z.string(),
          version: z.string(),
          title: z.string().nullable(),
          summary: z.string().nullable(),
        }),
      )
      .optional(),
    versions_count: z.int().nonnegative(),
    /** The last ten published, newest first. */
    versions: z.array(
      z.object({
        version: z.string(),
        published_at: timeSchema,
        downloads: z.int().nonnegative(),
        deprecated: z.string().nullable(),
        yanked: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'PackagePage' })
export type PackagePage = z.infer<typeof packagePageSchema>

/** Everything the package page shows, in one response instead of four. */
export const packageViewSchema = z
  .object({
    page: packagePageSchema,
    /** For `latest`; null if the package has no offer. */
    offer: z.union([offerSchema, z.null()]),
    /** The version in `page.latest`; null if that is null. */
    latest: z
      .object({
        details: versionDetailsSchema,
        /** Null if the version has no sample episode. */
        episode: z.union([sampleEpisodeSchema, z.null()]),
        /** Of a scenario: its best public agent that was verified on this version, or null. Null for an agent. */
        best_agent: z.union([bestReturnSchema, z.null()]),
      })
      .nullable(),
  })
  .meta({ id: 'PackageView' })
export type PackageView = z.infer<typeof packageViewSchema>
