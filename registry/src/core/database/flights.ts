import assert from 'node:assert'
import { type CompiledQuery, type RawBuilder, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { isPrepared, nameOf } from './prepared-statements.ts'
import type { Schema } from './schema.ts'

const mark = '/* ahead */'

/** What a statement has to carry that `sendAhead` sends: sql`${prepared}${ahead} insert …`, `.modifyEnd(…)` on a builder. */
export const ahead: RawBuilder<unknown> = sql.raw(mark)

/** Rows of statements that were held back, by the parameters they were sent with. */
const heldRows = new WeakMap<object, unknown[]>()

/**
 * Sends a statement in one flight with the next one of its transaction, the commit at the latest, and so saves a round trip.
 * Its failure is that of the next one. To ask for its rows sends it, where nothing else has. On PGlite, where nothing is far
 * away, it runs at once, and fails at once. A parameter is text, a number, a boolean, a Date or null.
 */
export async function sendAhead<Row>(
  query: Transaction<Schema>,
  statement: CompiledQuery<Row>,
): Promise<() => Promise<Row[]>> {
  assert(statement.sql.includes(mark), 'a statement that is sent ahead carries its mark')
  const { rows } = await query.executeQuery(statement)
  if ((rows as unknown[]) !== notYet) return async () => rows
  return async () => {
    if (!heldRows.has(statement.parameters)) await sql`select`.execute(query)
    return heldRows.get(statement.parameters) as Row[]
  }
}

/** The rows of a statement that is held back. */
const notYet: unknown[] = []

type Statement = { text: string; values: unknown[] }
type Types = pg.CustomTypesConfig
type Result = Pick<pg.QueryResult, 'command' | 'rowCount' | 'rows'>

/**
 * Makes a client hold back the beginning of a transaction, and statements that carry the mark, until there is one to send them
 * with: all of them in one write, and PostgreSQL answers all in one. Where one fails, those behind it are not run.
 */
export function sendInFlights(client: pg.PoolClient, types: Types): void {
  const query: (...given: unknown[]) => unknown = client.query.bind(client)
  let held: Statement[] = []
  const send = (text: unknown, values: unknown, ...rest: unknown[]): unknown => {
    if (typeof text !== 'string' || typeof values === 'function' || rest.length > 0) {
      assert(held.length === 0, 'within a transaction statements are text, and give promises')
      return query(text, values, ...rest)
    }
    const statement = { text, values: (values ?? []) as unknown[] }
    const plain = statement.values.every(isPlain)
    if (begins(text) || text.includes(mark)) {
      assert(plain, 'a parameter that is sent ahead is a plain value')
      held.push(statement)
      return Promise.resolve({ ...nothing('AHEAD'), rows: notYet })
    }
    if (held.length === 0) return query(text, values)
    const before = held
    held = []
    // Turning such a value into text may fail, which must not happen halfway through a flight.
    if (!plain) return fly(query, before, types).then(() => query(text, values))
    // What is undone before it was sent need not be sent, and a transaction of nothing need not be begun.
    if (text === 'rollback') return begins(before[0].text) ? Promise.resolve(nothing('ROLLBACK')) : query(text)
    if (text === 'commit' && before.length === 1 && begins(before[0].text)) return Promise.resolve(nothing('COMMIT'))
    return fly(query, [...before, statement], types)
  }
  client.query = send as typeof client.query
}

const begins = (text: string) => text.startsWith('start transaction')
const nothing = (command: string): Result => ({ command, rowCount: 0, rows: [] })

/** The result of the last one; fails with what the first one to fail says. */
async function fly(query: (flight: Flight) => unknown, statements: Statement[], types: Types): Promise<Result> {
  const results = await new Promise<Result[]>((resolve, reject) => {
    query(new Flight(statements, types, (error, given) => (error ? reject(error) : resolve(given))))
  }).catch((error: Error) => {
    // In place of a stack that leads to the socket, one that leads to who asked.
    Error.captureStackTrace(error)
    throw error
  })
  for (const [index, { values }] of statements.entries()) heldRows.set(values, results[index].rows)
  return results[results.length - 1]
}

/** What pg's own queries do when messages come; its types leave it out. */
type Handlers = {
  text: string
  name?: string
  prepare(connection: Connection): void
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
}
type Connection = pg.Connection & { submittedNamedStatements: Record<string, string>; sync(): void }

/** Several statements to the server with one Sync behind them, which makes it skip the rest once one has failed. */
class Flight {
  readonly #queries: Handlers[]
  readonly #results: Result[] = []
  /** Whose messages are coming in. */
  #current = 0
  #failed = false
  readonly #end: (error: Error | null, results: Result[]) => void

  constructor(statements: Statement[], types: Types, end: (error: Error | null, results: Result[]) => void) {
    this.#end = end
    this.#queries = statements.map(({ text, values }) => {
      const kept = isPrepared(text) || begins(text) || text === 'commit'
      const config = {
        text,
        values: [...values],
        types,
        queryMode: 'extended',
        ...(kept ? { name: nameOf(text) } : {}),
      }
      const done = (error: Error | undefined, result: unknown) => {
        if (!error) this.#results.push(result as Result)
        else if (!this.#failed) {
          this.#failed = true
          this.#end(error, [])
        }
      }
      return new pg.Query(config, done) as unknown as Handlers
    })
  }

  /** The client notes by these which statement the server has parsed. */
  get name(): string | undefined {
    return this.#queries[this.#current]?.name
  }

  get text(): string | undefined {
    return this.#queries[this.#current]?.text
  }

  submit(connection: Connection): void {
    const withoutSync = Object.create(connection, { sync: { value: () => {} } }) as Connection
    connection.stream.cork()
    for (const query of this.#queries) query.prepare(withoutSync)
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription(message: unknown): void {
    this.#queries[this.#current].handleRowDescription(message)
  }

  handleDataRow(message: unknown): void {
    this.#queries[this.#current].handleDataRow(message)
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    this.#queries[this.#current++].handleCommandComplete(message, connection)
  }

  handleReadyForQuery(connection: Connection): void {
    for (const query of this.#queries) query.handleReadyForQuery(connection)
    if (!this.#failed) this.#end(null, this.#results)
  }

  handleError(error: Error, connection: Connection): void {
    // Those behind it were not even parsed.
    for (const { name } of this.#queries.slice(this.#current))
      if (name) delete connection.submittedNamedStatements[name]
    this.#failed = true
    this.#end(error, [])
  }
}

const isPlain = (value: unknown) => value === null || typeof value !== 'object' || value instanceof Date
