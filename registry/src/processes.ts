/** What a supervisor of several server processes needs of the server: little, so that it starts fast and stays small. */

export { jsonLog } from './server/json-log.ts'
export { addCounts, countsOf, type GroupFigures, type ProcessFigures } from './server/process-figures.ts'
export type { ProcessGroup } from './server/process-group.ts'
export { readSettings } from './server/read-settings.ts'
