/**
 * One step of the schema. Once released it is never edited: its checksum lies in every database that it has changed.
 * Each statement is one statement, for PGlite's extended protocol takes no more.
 */
export type Migration = { name: string; statements: readonly string[] }
