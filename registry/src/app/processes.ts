/**
 * The part of the server that a supervisor of several processes imports. Small, so that the supervisor starts fast and
 * uses little memory.
 */

export { jsonLog } from '../core/observability/json-log.ts'
export { addCounts, countsOf, type GroupSnapshot, type MetricsSnapshot } from '../core/observability/process-metrics.ts'
export { readSettings } from './settings/read-settings.ts'
