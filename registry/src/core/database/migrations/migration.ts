/**
 * One step of the schema. Once released it is never edited: its checksum lies in every database that it has changed.
 * Each statement is one statement, for PGlite's extended protocol takes no more.
 */
export type Migration = {
  name: string
  statements: readonly string[]
  /**
   * Indexes of tables that may be large, by name: `on orders (seller_id)`. On PostgreSQL they are built after the migrations, without
   * locking their tables; until then queries are slower. Never unique: nothing may rely on them.
   */
  indexes?: Readonly<Record<string, string>>
  /**
   * The program before it can still work on the database: it only adds tables, indexes, and columns that may be left out.
   * Servers of both versions then run side by side during an upgrade, and the old version can be started again.
   */
  compatible?: true
}
