import { AgentGymError } from '@agentgym/contract'
import { awaitDatabase } from '../core/database/await-database.ts'
import { ReadReplica } from '../core/database/read-replica.ts'
import type { Dependencies } from '../core/dependencies/dependencies.ts'
import type { Outage } from '../core/dependencies/outage.ts'
import { openMail } from '../core/mail/mail.ts'
import { createProcessMetrics } from '../core/observability/process-metrics.ts'
import type { Log } from '../core/services.ts'
import { openObjectStore } from '../core/storage/open-object-store.ts'
import { type AppServices, openAppServices, openDependencies } from './app-services.ts'
import { installationSecret, type Settings } from './settings/read-settings.ts'

/**
 * Mail in files is for local servers only. A public server must configure mail, because mails contain links that give
 * access to accounts. Throws `config_invalid`.
 */
function mailTransport({ mail, config }: Settings): string {
  if (mail.transport !== null) return mail.transport
  if (config.local) return 'file'
  throw new AgentGymError({
    code: 'config_invalid',
    message: 'A server under a public address needs the setting AGENTGYM_MAIL.',
    hint: 'Set it to smtps://user:password@host. "file" writes mail to a folder, "console" to the log, with live links.',
    data: { field: 'AGENTGYM_MAIL' },
  })
}

type Opening = { publicUrl: string; log: Log; onWaiting: () => void }

/**
 * Opens every configured service or, if one fails, none. A bucket that is down is not a failure. Waits for PostgreSQL
 * for a while and calls `onWaiting` once.
 */
export async function openServices(settings: Settings, { publicUrl, log, onWaiting }: Opening): Promise<AppServices> {
  const mail = openMail({ ...settings.mail, transport: mailTransport(settings), log })
  let dependencies: Dependencies | undefined
  const onOutage = ({ dependency }: Outage) => dependencies?.failed(dependency)
  const waiting = { waitMs: settings.databaseWaitMs, log, onWaiting, onOutage }
  const [database, objects] = await Promise.allSettled([
    awaitDatabase(settings.database, waiting),
    openObjectStore(settings.objects, onOutage),
  ])
  if (database.status === 'rejected') throw database.reason
  try {
    if (objects.status === 'rejected') throw objects.reason
    dependencies = openDependencies({ database: database.value, objects: objects.value, log })
    const secret = settings.secret ?? (await installationSecret(database.value))
    const config = { ...settings.config, publicUrl, secure: publicUrl.startsWith('https:'), secret }
    const opened = { database: database.value, objects: objects.value, dependencies, mail, config, log }
    const replica = settings.replica === null ? undefined : new ReadReplica(database.value, settings.replica, log)
    return openAppServices({ ...opened, replica, metrics: createProcessMetrics() })
  } catch (error) {
    await database.value.close()
    throw error
  }
}
