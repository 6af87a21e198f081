import { openMail } from '../auth/mail/open-mail.ts'
import { openDatabase } from '../database/open-database.ts'
import { openObjectStore } from '../storage/open-object-store.ts'
import { installationSecret } from './installation-secret.ts'
import { createProcessMetrics } from './process-metrics.ts'
import type { Settings } from './read-settings.ts'
import type { Log, Services } from './services.ts'

/** Opens what the settings name: all of it or, where a part cannot be had, none. */
export async function openServices(settings: Settings, publicUrl: string, log: Log): Promise<Services> {
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
    return { database: database.value, objects: objects.value, mail, config, log, metrics: createProcessMetrics() }
  } catch (error) {
    await database.value.close()
    throw error
  }
}
