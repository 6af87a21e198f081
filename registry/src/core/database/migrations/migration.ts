/**
 * One step of the schema. Once released it is never edited: its checksum lies in every database that it has changed.
 * Each statement is one statement, for PGlite's extended protocol takes no more.
 */
export type Migration = {
  name: string
  statements: readonly string[]
  /**
   * The program before it can still work on the database: it only adds tables, indexes, and columns that may be left out.
   * Servers of both versions then run side by side during an upgrade, and the old version can be started again.
   */
  compatible?: true
}
