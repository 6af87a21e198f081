import { openDatabase } from '../core/database/open-database.ts'
import { openMail } from '../core/mail/mail.ts'
import { createProcessMetrics } from '../core/observability/process-metrics.ts'
import type { Log } from '../core/services.ts'
import { openObjectStore } from '../core/storage/open-object-store.ts'
import { type AppServices, openAppServices } from './app-services.ts'
import { installationSecret, type Settings } from './settings/read-settings.ts'

/** Opens everything that the settings name or, if any part fails, nothing. */
export async function openServices(settings: Settings, publicUrl: string, log: Log): Promise<AppServices> {
  const mail = openMail({ ...settings.mail, log })
  const [database, objects] = await Promise.allSettled([
    openDatabase(settings.database),
    openObjectStore(settings.objects),
  ])
  if (database.status === 'rejected') throw database.reason
  try {
    if (objects.status === 'rejected') throw objects.reason
    const secret = settings.secret ?? (await installationSecret(database.value))
    const config = { ...settings.config, publicUrl, secure: publicUrl.startsWith('https:'), secret }
    const opened = { database: database.value, objects: objects.value, mail, config, log }
    return openAppServices({ ...opened, metrics: createProcessMetrics() })
  } catch (error) {
    await database.value.close()
    throw error
  }
}
