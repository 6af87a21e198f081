/** What a supervisor of several server processes needs of the server: little, so that it starts fast and stays small. */

export { jsonLog } from './json-log.ts'
export { addCounts, countsOf, type GroupFigures, type ProcessFigures } from './process-figures.ts'
export { readSettings } from './read-settings.ts'
