export type { AuditFinding } from './app/operating/audit.ts'
export {
  auditOf,
  backUpInstallation,
  migrateDatabase,
  moveInstallation,
  restoreInstallation,
} from './app/operating/with-installation.ts'
export { type Operators, withOperators } from './app/operators.ts'
export { type RunningServer, serve, type Unclaimed } from './app/serve.ts'
export type { ServeOptions } from './app/settings/read-settings.ts'
