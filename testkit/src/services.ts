import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AppServices, openAppServices, openDependencies } from '../../registry/src/app/app-services.ts'
import type { Database } from '../../registry/src/core/database/database.ts'
import type { Outage } from '../../registry/src/core/dependencies/outage.ts'
import { createProcessMetrics } from '../../registry/src/core/observability/process-metrics.ts'
import type { Mail, ServerConfig } from '../../registry/src/core/services.ts'
import { openObjectStore } from '../../registry/src/core/storage/open-object-store.ts'
import { ReadmeRenderer } from '../../registry/src/modules/packages/documents/readme-renderer.ts'
import { ModelChecker } from '../../registry/src/modules/packages/model-checker.ts'
import { runFolder } from './run-folder.ts'

type LogEntry = { level: 'info' | 'warn' | 'error'; message: string; data?: Record<string, unknown> }

export type TestServices = AppServices & {
  mail: { sent(): Promise<SentMail[]> }
  /** What was logged, in order. */
  logged: LogEntry[]
  /** Folder of objects and mail. */
  folder: string
  /** Takes the folder away; the database stays open. */
  remove(): Promise<void>
}

/** One for all tests of a process: a thread takes half a second to start. */
const readmes = new ReadmeRenderer()
const models = new ModelChecker()

/** Services for a module's tests: objects and mail in a separate folder, and a unique secret. */
export async function testServices(database: Database, config: Partial<ServerConfig> = {}): Promise<TestServices> {
  const folder = await mkdtemp(join(runFolder(), 'services-'))
  const logged: LogEntry[] = []
  const log =
    (level: LogEntry['level']) =>
    (message: string, data?: Record<string, unknown>): void => {
      logged.push({ level, message, data })
    }
  const logger = { info: log('info'), warn: log('warn'), error: log('error') }
  const onOutage = ({ dependency }: Outage) => dependencies.failed(dependency)
  const objects = await openObjectStore({ folder: join(folder, 'objects') }, onOutage)
  const dependencies = openDependencies({ database, objects, log: logger })
  const services = openAppServices({
    database,
    objects,
    dependencies,
    mail: createFileMail(join(folder, 'mail')),
    config: {
      publicUrl: 'http://localhost:4477',
      data: folder,
      secure: false,
      local: true,
      trustedProxies: 0,
      secret: randomBytes(32),
      limits: { tarballBytes: 20_000_000, unpackedBytes: 100_000_000, files: 2_000, ratio: 100 },
      training: {
        currency: 'USD',
        openRuns: 10_000,
        startsPerMinute: 12_000,
        freeMinorPerMonth: null,
        checkpointBytes: 1_000_000,
        retainCheckpointDays: 30,
        retainTrajectoryDays: 30,
        retainMetricDays: 365,
      },
      queue: { openChecks: 1_000, openEvaluations: 1_000, openEpisodes: 10_000_000, weights: {} },
      confirmedEmail: false,
      market: {
        feeBasisPoints: 1_000,
        royaltyCapBasisPoints: 2_000,
        priceNoticeDays: 7,
        payoutHoldDays: 14,
        stripe: null,
        moneyOnPglite: false,
      },
      verification: { workers: 'auto', seasonHours: 168 },
      webhookOrigins: [],
      signOnIssuers: [],
      oauth: {},
      ...config,
    },
    metrics: createProcessMetrics(),
    log: logger,
  })
  return { ...services, readmes, models, logged, folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

type SentMail = Parameters<Mail['send']>[0]

/** Mail that is delivered into a folder, one file a message; `sent` reads it back, oldest first. */
function createFileMail(folder: string): Mail & { sent(): Promise<SentMail[]> } {
  let count = 0
  return {
    send: async (message) => {
      await mkdir(folder, { recursive: true })
      const name = `${Date.now()}-${String(++count).padStart(6, '0')}-${randomUUID()}.json`
      await writeFile(join(folder, `${name}.new`), JSON.stringify(message))
      await rename(join(folder, `${name}.new`), join(folder, name))
    },
    sent: async () => {
      await mkdir(folder, { recursive: true })
      const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
      return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as SentMail))
    },
  }
}
