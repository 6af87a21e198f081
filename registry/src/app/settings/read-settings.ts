import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { Database } from '../../core/database/database.ts'
import type { DatabaseAddress } from '../../core/database/open-database.ts'
import type { PostgresqlAddress } from '../../core/database/postgresql-database.ts'
import type { ReplicaAddress } from '../../core/database/read-replica.ts'
import type { OpenSite } from '../../core/http/site.ts'
import type { LogLevel } from '../../core/observability/json-log.ts'
import type { ProcessGroup } from '../../core/observability/process-metrics.ts'
import {
  isTracingWanted,
  type TracingSettings,
  tracingSettings,
  tracingVariables,
} from '../../core/observability/tracing.ts'
import type { MarketConfig, ServerConfig } from '../../core/services.ts'
import { type ObjectStoreAddress, s3AddressFrom } from '../../core/storage/open-object-store.ts'
import type { OpenBuiltIn } from '../../modules/npm/index.ts'
import type { CommandPackage } from '../command-package.routes.ts'
import { listeningHost } from '../own-address.ts'

const MEBIBYTE = 2 ** 20
const MOST_PROCESSES = 64

const whole = (low: number, high: number) =>
  z
    .string()
    .regex(/^\d+$/, 'a whole number')
    .transform(Number)
    .refine((value) => value >= low && value <= high, `a number from ${low} to ${high}`)
const address = (...protocols: string[]) =>
  z
    .string()
    .refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''), `a URL with ${protocols.join(' or ')}`)

/** `alice=4, ci=0.5`: shares by username. */
const weights = z
  .string()
  .regex(
    /^\s*[a-z0-9][a-z0-9._-]*=\d{1,3}(\.\d{1,3})?(\s*,\s*[a-z0-9][a-z0-9._-]*=\d{1,3}(\.\d{1,3})?)*\s*$/,
    'a list such as alice=4,ci=0.5',
  )
  .transform((text) => Object.fromEntries(text.split(',').map((entry) => splitWeight(entry))))
  .refine(
    (given) => Object.values(given).every((weight) => weight >= 0.1 && weight <= 100),
    'a list of weights from 0.1 to 100',
  )
const splitWeight = (entry: string): [string, number] => {
  const [username, weight] = entry.trim().split('=')
  return [username, Number(weight)]
}

/** PEM, as printed by `openssl genpkey -algorithm ed25519`; line breaks may be written as \\n. */
function ed25519Key(text: string, context: z.RefinementCtx<string>): KeyObject {
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'))
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // Reported below, without the value.
  }
  context.addIssue({ code: 'custom', message: 'an Ed25519 private key in PEM', input: '' })
  return z.NEVER
}

const basisPoints = z
  .string()
  .regex(/^\d{1,5}$/, 'a whole number')
  .transform(Number)
  .refine((value) => value <= 10_000, 'a number from 0 to 10000')
const days = z
  .string()
  .regex(/^\d{1,4}$/, 'a whole number')
  .transform(Number)
  .refine((value) => value <= 3_650, 'a number from 0 to 3650')
/** Printable, without spaces; never shown. */
const secret = z.string().regex(/^[\x21-\x7e]{8,}$/, 'at least 8 printable characters without a space')

const marketVariables = {
  AGENTGYM_PLATFORM_FEE_BASIS_POINTS: basisPoints,
  AGENTGYM_ROYALTY_CAP_BASIS_POINTS: basisPoints,
  AGENTGYM_PRICE_NOTICE_DAYS: days,
  AGENTGYM_PAYOUT_HOLD_DAYS: days,
  AGENTGYM_STRIPE_SECRET_KEY: secret,
  AGENTGYM_STRIPE_WEBHOOK_SECRET: secret,
  AGENTGYM_STRIPE_API_ADDRESS: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'a URL with http: or https:'),
  AGENTGYM_MONEY_ON_PGLITE: z.literal('allow', 'allow, which accepts real money although PGlite may lose it'),
}

/** Providers that give each tenant its own host name and control their tenants' addresses. */
const usualIssuers = ['accounts.google.com', 'login.microsoftonline.com', '*.okta.com', '*.auth0.com', '*.onelogin.com']

/** The type of each environment variable; README.md documents them. */
const variables = {
  AGENTGYM_HOST: z.string(),
  AGENTGYM_PORT: whole(0, 65_535),
  AGENTGYM_PROCESSES: whole(1, MOST_PROCESSES),
  AGENTGYM_PUBLIC_URL: address('http:', 'https:').refine(
    (text) => /^\/*$/.test(URL.parse(text)?.pathname ?? '/') && !/[?#]/.test(text),
    'a URL without a path, such as https://gym.example.com: the server needs a host name of its own',
  ),
  AGENTGYM_DATA: z.string(),
  AGENTGYM_POLICIES: z.string(),
  AGENTGYM_HOME: z.string(),
  AGENTGYM_TRUSTED_PROXIES: whole(0, 10),
  AGENTGYM_SECRET: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, '32 bytes in hexadecimal, as `openssl rand -hex 32` prints them'),
  AGENTGYM_SIGNING_KEY: z.string().transform(ed25519Key),
  AGENTGYM_SETUP_SECRET: z.string().regex(/^[\x21-\x7e]{16,}$/, 'at least 16 printable characters without a space'),
  AGENTGYM_LOG_LEVEL: z.enum(['info', 'warn', 'error'], 'info, warn or error'),
  AGENTGYM_MAX_TARBALL_BYTES: whole(1_024, 2 ** 31),
  AGENTGYM_MAX_UNPACKED_BYTES: whole(1_024, 2 ** 33),
  AGENTGYM_MAX_CHECKPOINT_BYTES: whole(1_024, 2 ** 31),
  AGENTGYM_RETAIN_CHECKPOINT_DAYS: whole(1, 36_500),
  AGENTGYM_RETAIN_TRAJECTORY_DAYS: whole(1, 36_500),
  AGENTGYM_RETAIN_METRIC_DAYS: whole(1, 36_500),
  AGENTGYM_MAX_FILES: whole(1, 1_000_000),
  AGENTGYM_CURRENCY: z.string().regex(/^[A-Z]{3}$/, 'a three-letter currency code, such as USD'),
  AGENTGYM_SEASON_HOURS: whole(1, 8_760),
  AGENTGYM_VERIFICATION_WORKERS: z.enum(['auto', '1', '2'], 'auto, 1 or 2'),
  AGENTGYM_MAX_OPEN_RUNS: whole(1, 10_000_000),
  AGENTGYM_TRAINING_FREE_MINOR_PER_MONTH: z.union([z.literal('unlimited'), whole(0, 1_000_000_000_000)], {
    error: 'a number from 0 to 1000000000000, or unlimited',
  }),
  AGENTGYM_MAX_STARTS_PER_MINUTE: whole(1, 10_000_000),
  AGENTGYM_MAX_OPEN_CHECKS: whole(1, 1_000_000),
  AGENTGYM_MAX_OPEN_EVALUATIONS: whole(1, 1_000_000),
  AGENTGYM_MAX_OPEN_EPISODES: whole(1, 1_000_000_000),
  AGENTGYM_QUEUE_WEIGHTS: weights,
  AGENTGYM_CONFIRMED_EMAIL: z.enum(['required', 'optional'], 'required or optional'),
  AGENTGYM_MAIL: z.string().regex(/^(file|console|smtps?:\/\/.+)$/, '"file", "console" or an smtp:// or smtps:// URL'),
  AGENTGYM_MAIL_FROM: z.string().regex(/@/, 'a sender address such as gym@example.com'),
  AGENTGYM_GITHUB_CLIENT_ID: z.string(),
  AGENTGYM_GITHUB_CLIENT_SECRET: z.string(),
  AGENTGYM_GOOGLE_CLIENT_ID: z.string(),
  AGENTGYM_GOOGLE_CLIENT_SECRET: z.string(),
  AGENTGYM_SIGN_ON_ISSUERS: z
    .string()
    .regex(
      /^((http:\/\/)?(\*\.)?[\w.-]+(:\d+)?)(\s*,\s*(http:\/\/)?(\*\.)?[\w.-]+(:\d+)?)*$/,
      'hosts, separated by commas',
    )
    .transform((text) => text.split(',').map((host) => host.trim())),
  AGENTGYM_WEBHOOK_ORIGINS: z
    .string()
    .refine((text) => text.split(',').every((one) => isOrigin(one.trim())), 'origins, separated by commas')
    .transform((text) => text.split(',').map((one) => new URL(one.trim()).origin)),
  AGENTGYM_PROXY: address('http:', 'https:'),
  AGENTGYM_NO_PROXY: z.string(),
  AGENTGYM_METRICS_TOKEN: z.string().regex(/^[\x21-\x7e]{16,}$/, 'at least 16 printable characters without a space'),
  AGENTGYM_DATABASE_WAIT_SECONDS: whole(0, 3_600),
  AGENTGYM_DATABASE_CONNECTIONS: whole(2, 1_000),
  AGENTGYM_STATEMENT_TIMEOUT_SECONDS: whole(1, 3_600),
  DATABASE_URL: address('postgres:', 'postgresql:'),
  DATABASE_REPLICA_URL: address('postgres:', 'postgresql:'),
  AGENTGYM_REPLICA_LAG_SECONDS: whole(1, 3_600),
  ...marketVariables,
  ...tracingVariables,
}
const schema = z.object(variables).partial()

export type ServeOptions = {
  /** Port to listen on; 0 picks a free one. */
  port?: number
  /** Address to listen on. Default: 127.0.0.1. */
  host?: string
  /** Folder of the embedded database, objects and mail. */
  data?: string
  publicUrl?: string
  /** Opens the marketplace's site. Without it, the server has only the API and the reference pages. */
  site?: OpenSite
  /** Makes `@agentgym/scenario` as a package, which the npm registry then serves. */
  library?: OpenBuiltIn
  /** The command as a package, which the server then hands out at `/cli/agentgym.tgz`. */
  command?: CommandPackage
  /** Used for settings without an option. Default: the environment of the process. */
  environment?: NodeJS.ProcessEnv
  /** Set if this process shares its port with others. */
  group?: ProcessGroup
}

export type Settings = {
  host: string
  port: number
  /** The number of server processes, for the supervisor. */
  processes: number
  /** Null: users reach it at its listening address. */
  publicUrl: string | null
  database: DatabaseAddress
  /** A standby of it that answers reads of the catalog; null for none. */
  replica: ReplicaAddress | null
  /** How long the server waits for PostgreSQL at start. */
  databaseWaitMs: number
  objects: ObjectStoreAddress
  /** `transport`: null if it is not set. */
  mail: { transport: string | null; from: string; folder: string }
  /** Folder of the operator's policies; `chosen` by a setting. */
  policies: { folder: string; chosen: boolean }
  logLevel: LogLevel
  secret: Uint8Array | null
  tracing: TracingSettings | null
  /** Proxy for requests to identity and payment providers; null for none. Applied by the serving process. */
  proxy: { url: string; exempt: string } | null
  config: Omit<ServerConfig, 'publicUrl' | 'secure' | 'secret'>
}

/** PostgreSQL where the environment names one, otherwise the embedded database in `folder`. */
function databaseAddress(read: z.infer<typeof schema>, folder: string): DatabaseAddress {
  return read.DATABASE_URL === undefined ? { folder } : postgresqlAddress(read, read.DATABASE_URL)
}

function postgresqlAddress(read: z.infer<typeof schema>, url: string): PostgresqlAddress {
  return {
    url,
    connections: read.AGENTGYM_DATABASE_CONNECTIONS ?? 10,
    statementMs: (read.AGENTGYM_STATEMENT_TIMEOUT_SECONDS ?? 30) * 1_000,
  }
}

function replicaAddress(read: z.infer<typeof schema>): ReplicaAddress | null {
  const { DATABASE_URL, DATABASE_REPLICA_URL: url, AGENTGYM_REPLICA_LAG_SECONDS: lag = 10 } = read
  if (url === undefined) return null
  if (DATABASE_URL === undefined)
    throw invalid('DATABASE_REPLICA_URL', 'is a standby of a database that DATABASE_URL must name')
  return { ...postgresqlAddress(read, url), maxLagMs: lag * 1_000 }
}

/** Options first, then the environment, then defaults. Throws `config_invalid`, naming the invalid variable. */
export function readSettings(options: ServeOptions): Settings {
  const { environment = process.env } = options
  const read = parse(environment)
  const bucket = s3AddressFrom(environment)
  const folder = resolve(
    options.data ?? read.AGENTGYM_DATA ?? join(read.AGENTGYM_HOME ?? join(homedir(), '.agentgym'), 'server'),
  )
  const url = read.DATABASE_URL
  const needsFolder = url === undefined || bucket === undefined
  const mailTransport = read.AGENTGYM_MAIL ?? null
  const freeMinor = read.AGENTGYM_TRAINING_FREE_MINOR_PER_MONTH ?? 0
  const host = listeningHost(options.host ?? read.AGENTGYM_HOST ?? '127.0.0.1')
  const publicUrl = (options.publicUrl ?? read.AGENTGYM_PUBLIC_URL)?.replace(/\/+$/, '') ?? null
  const trustedProxies = read.AGENTGYM_TRUSTED_PROXIES ?? 0
  return {
    host,
    port: options.port ?? read.AGENTGYM_PORT ?? 4477,
    processes: read.AGENTGYM_PROCESSES ?? 1,
    publicUrl,
    database: databaseAddress(read, join(folder, 'database')),
    replica: replicaAddress(read),
    databaseWaitMs: (read.AGENTGYM_DATABASE_WAIT_SECONDS ?? 30) * 1_000,
    objects: bucket ?? { folder: join(folder, 'objects') },
    mail: {
      transport: mailTransport,
      from: read.AGENTGYM_MAIL_FROM ?? 'AgentGym <no-reply@localhost>',
      folder: join(folder, 'mail'),
    },
    policies: policiesFolder(read.AGENTGYM_POLICIES, folder),
    logLevel: read.AGENTGYM_LOG_LEVEL ?? 'info',
    secret: read.AGENTGYM_SECRET === undefined ? null : Buffer.from(read.AGENTGYM_SECRET, 'hex'),
    tracing: tracingSettings(read),
    proxy:
      read.AGENTGYM_PROXY === undefined ? null : { url: read.AGENTGYM_PROXY, exempt: read.AGENTGYM_NO_PROXY ?? '' },
    config: {
      data: needsFolder ? folder : null,
      local:
        isLoopback(host) && (publicUrl === null || isLoopback(new URL(publicUrl).hostname)) && trustedProxies === 0,
      trustedProxies,
      limits: {
        tarballBytes: read.AGENTGYM_MAX_TARBALL_BYTES ?? 32 * MEBIBYTE,
        unpackedBytes: read.AGENTGYM_MAX_UNPACKED_BYTES ?? 256 * MEBIBYTE,
        files: read.AGENTGYM_MAX_FILES ?? 5_000,
        ratio: 100,
      },
      training: {
        currency: read.AGENTGYM_CURRENCY ?? 'USD',
        openRuns: read.AGENTGYM_MAX_OPEN_RUNS ?? 1_000,
        startsPerMinute: read.AGENTGYM_MAX_STARTS_PER_MINUTE ?? 12_000,
        freeMinorPerMonth: freeMinor === 'unlimited' ? null : freeMinor,
        checkpointBytes: read.AGENTGYM_MAX_CHECKPOINT_BYTES ?? 512 * MEBIBYTE,
        retainCheckpointDays: read.AGENTGYM_RETAIN_CHECKPOINT_DAYS ?? 30,
        retainTrajectoryDays: read.AGENTGYM_RETAIN_TRAJECTORY_DAYS ?? 30,
        retainMetricDays: read.AGENTGYM_RETAIN_METRIC_DAYS ?? 365,
      },
      queue: {
        openChecks: read.AGENTGYM_MAX_OPEN_CHECKS ?? 100,
        openEvaluations: read.AGENTGYM_MAX_OPEN_EVALUATIONS ?? 100,
        openEpisodes: read.AGENTGYM_MAX_OPEN_EPISODES ?? 200_000,
        weights: read.AGENTGYM_QUEUE_WEIGHTS ?? {},
      },
      // If mail goes only to a file or the log, users cannot confirm their addresses.
      confirmedEmail:
        (read.AGENTGYM_CONFIRMED_EMAIL ?? (/^smtps?:/.test(mailTransport ?? '') ? 'required' : 'optional')) ===
        'required',
      market: marketSettings(read, invalid),
      verification: {
        workers: workersOf(read.AGENTGYM_VERIFICATION_WORKERS),
        seasonHours: read.AGENTGYM_SEASON_HOURS ?? 168,
      },
      signingKey: read.AGENTGYM_SIGNING_KEY,
      setupSecret: read.AGENTGYM_SETUP_SECRET,
      metricsToken: read.AGENTGYM_METRICS_TOKEN,
      webhookOrigins: read.AGENTGYM_WEBHOOK_ORIGINS ?? [],
      signOnIssuers: read.AGENTGYM_SIGN_ON_ISSUERS ?? usualIssuers,
      oauth: { github: pair(environment, 'GITHUB'), google: pair(environment, 'GOOGLE') },
    },
  }
}

/** `https://host` or `http://host:port`, without a path. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.host !== '' && `${url.origin}/` === url.href
}

function policiesFolder(chosen: string | undefined, data: string): Settings['policies'] {
  return { folder: resolve(chosen ?? join(data, 'policies')), chosen: chosen !== undefined }
}

/** Whether a host name or address is local. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

function parse(environment: NodeJS.ProcessEnv): z.infer<typeof schema> {
  // OpenTelemetry's variables may be set for other programs on the machine: they apply here only if tracing is on.
  const ours = isTracingWanted(environment)
    ? Object.keys(variables)
    : Object.keys(variables).filter((name) => !Object.hasOwn(tracingVariables, name))
  // An empty variable counts as unset.
  const given = ours.flatMap((name) => (environment[name] ? [[name, environment[name]] as const] : []))
  const parsed = schema.safeParse(Object.fromEntries(given))
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]
  throw invalid(String(path[0]), `is not ${message}`)
}

function workersOf(value: 'auto' | '1' | '2' = 'auto'): ServerConfig['verification']['workers'] {
  return value === 'auto' ? value : value === '1' ? 1 : 2
}

function pair(
  environment: NodeJS.ProcessEnv,
  provider: string,
): { clientId: string; clientSecret: string } | undefined {
  const clientId = environment[`AGENTGYM_${provider}_CLIENT_ID`]
  const clientSecret = environment[`AGENTGYM_${provider}_CLIENT_SECRET`]
  if (clientId && clientSecret) return { clientId, clientSecret }
  if (clientId) throw invalid(`AGENTGYM_${provider}_CLIENT_SECRET`, 'is required when the client id is set')
  if (clientSecret) throw invalid(`AGENTGYM_${provider}_CLIENT_ID`, 'is required when the client secret is set')
  return undefined
}

/** Never shows the value, which may contain a password. */
function invalid(variable: string, what: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `The setting ${variable} ${what}.`,
    hint: 'Settings are documented in registry/README.md.',
    data: { field: variable },
  })
}

type Read = { [Name in keyof typeof marketVariables]?: z.output<(typeof marketVariables)[Name]> }

/** Defaults for unset variables. `refuse` adds an invalid variable to the error. */
function marketSettings(read: Read, refuse: (variable: string, what: string) => Error): MarketConfig {
  const feeBasisPoints = read.AGENTGYM_PLATFORM_FEE_BASIS_POINTS ?? 1_000
  const royaltyCapBasisPoints = read.AGENTGYM_ROYALTY_CAP_BASIS_POINTS ?? 2_000
  if (feeBasisPoints + royaltyCapBasisPoints > 10_000)
    throw refuse(
      'AGENTGYM_ROYALTY_CAP_BASIS_POINTS',
      'and AGENTGYM_PLATFORM_FEE_BASIS_POINTS add up to more than 10000, the whole price',
    )
  return {
    feeBasisPoints,
    royaltyCapBasisPoints,
    priceNoticeDays: read.AGENTGYM_PRICE_NOTICE_DAYS ?? 7,
    payoutHoldDays: read.AGENTGYM_PAYOUT_HOLD_DAYS ?? 14,
    stripe: stripeSettings(read, refuse),
    moneyOnPglite: read.AGENTGYM_MONEY_ON_PGLITE === 'allow',
  }
}

function stripeSettings(read: Read, refuse: (variable: string, what: string) => Error): MarketConfig['stripe'] {
  const { AGENTGYM_STRIPE_SECRET_KEY: secretKey, AGENTGYM_STRIPE_WEBHOOK_SECRET: webhookSecret } = read
  if (secretKey === undefined && webhookSecret === undefined) return null
  if (secretKey === undefined) throw refuse('AGENTGYM_STRIPE_SECRET_KEY', 'is required when the webhook secret is set')
  if (webhookSecret === undefined)
    throw refuse('AGENTGYM_STRIPE_WEBHOOK_SECRET', 'is required when the secret key is set')
  return { secretKey, webhookSecret, apiAddress: read.AGENTGYM_STRIPE_API_ADDRESS ?? null }
}

/** The secret shared by all replicas: created by the first to start, read by the others. */
export async function installationSecret({ query }: Database): Promise<Uint8Array> {
  const name = 'secret'
  await query
    .insertInto('installation')
    .values({ name, value: randomBytes(32).toString('hex') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await query
    .selectFrom('installation')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return Buffer.from(value, 'hex')
}
