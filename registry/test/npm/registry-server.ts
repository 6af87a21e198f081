import { once } from 'node:events'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import { createApp } from '../../src/app/app.ts'
import { openAppServices } from '../../src/app/app-services.ts'
import { openDatabase } from '../../src/core/database/open-database.ts'
import { createProcessMetrics } from '../../src/core/observability/process-metrics.ts'
import { openDiskObjectStore } from '../../src/core/storage/disk-object-store.ts'
import { npmRoutes } from '../../src/modules/npm/npm.routes.ts'

export type RegistryServerOptions = {
  database: { url: string } | { folder: string }
  /** Objects lie here. Servers on one database share it. */
  folder: string
  /** Hexadecimal; servers on one database share it. */
  secret: string
  port: number
  publicUrl: string
}

/** A server of the npm registry alone, in a process of its own: `node registry-server.ts '{"port":…}'`. Says its address. */
async function main({ database, folder, secret, port, publicUrl }: RegistryServerOptions): Promise<void> {
  const log = (level: string) => (message: string, data?: Record<string, unknown>) => {
    if (level !== 'info') console.error(level, message, data ?? '')
  }
  const services = openAppServices({
    database: await openDatabase(database),
    objects: await openDiskObjectStore(join(folder, 'objects')),
    mail: { send: async () => {} },
    config: {
      publicUrl,
      data: folder,
      secure: false,
      local: true,
      trustedProxies: 0,
      secret: Buffer.from(secret, 'hex'),
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
    },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    metrics: createProcessMetrics(),
  })
  const app = createApp(services, { routes: [npmRoutes(services)] })
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port })
  if (!server.listening) await once(server, 'listening')
  console.log('listening')
}

// Ends with the test that started it, however that ends.
process.stdin.resume().on('end', () => process.exit())
await main(JSON.parse(process.argv[2]))
