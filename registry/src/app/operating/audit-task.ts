import { type DatabaseAddress, openAsItIs } from '../../core/database/open-database.ts'
import type { ScheduledTask } from '../../core/scheduled-tasks/scheduled-tasks.ts'
import type { Services } from '../../core/services.ts'
import { auditInstallation } from './audit.ts'

const dayMs = 24 * 60 * 60_000
const mostLogged = 20

/** Audits the installation every night, in the log and in `/metrics`. */
export function auditTask({ database, objects, log }: Services, address: DatabaseAddress): ScheduledTask {
  return {
    name: 'operating.audit',
    everyMs: dayMs,
    run: async () => {
      // On a connection without the time limits of requests. PGlite has one connection and no limits.
      const patient = 'url' in address ? await openAsItIs(address) : undefined
      try {
        const { findings } = await auditInstallation(patient ?? database, objects)
        for (const finding of findings.slice(0, mostLogged)) log.error('the audit found a fault', finding)
      } finally {
        await patient?.close()
      }
    },
  }
}
