/** What a supervisor of several server processes needs of the server: little, so that it starts fast and stays small. */

export { jsonLog } from '../core/observability/json-log.ts'
export { addCounts, countsOf, type GroupSnapshot, type MetricsSnapshot } from '../core/observability/process-metrics.ts'
export { readSettings } from './settings/read-settings.ts'
