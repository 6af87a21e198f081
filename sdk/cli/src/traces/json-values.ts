import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { AgentGymError, namingFile, parseJson } from '@agentgym/contract'

/** One value of a log; more is a dump, not a record. */
const MAX_VALUE_BYTES = 64 * 1024 * 1024
/** Field of the outermost object whose list holds the values: OTLP, and pages of LangSmith's and Langfuse's APIs. */
const wrappers = ['resourceSpans', 'resource_spans', 'runs', 'data', 'traces', 'observations', 'scores']

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]
/** Bytes of the beginning that say where the values are. */
const HEAD = 256

/**
 * The JSON objects of a file, one after the other: one a line (JSON Lines), the items of a list, or those of the list in an object
 * such as `{"resourceSpans": […]}`, also where a line each has one. Memory holds one value at a time, whatever the size of the file;
 * `.gz` is unpacked. Throws `traces_invalid`.
 */
export async function* jsonValues(path: string): AsyncGenerator<unknown> {
  const file = createReadStream(path)
  const bytes = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  // The errors of a stream reach its reader only.
  if (bytes !== file) file.on('error', (error) => bytes.destroy(error))
  const scanner = new ValueScanner(path)
  const chunks = bytes[Symbol.asyncIterator]()
  for (;;) {
    const next = await namingFile(path, () => chunks.next())
    if (next.done) break
    yield* scanner.push(next.value as Buffer)
  }
  yield* scanner.end()
}

/**
 * The values of several files, one file after the other. Langfuse exports scores as files of their own: they come first, so that every
 * trace finds its own.
 */
export async function* jsonValuesOf(paths: readonly string[]): AsyncGenerator<unknown> {
  for (const path of paths.toSorted((a, b) => Number(isScores(b)) - Number(isScores(a)))) yield* jsonValues(path)
}

function isScores(path: string): boolean {
  return /(^|[\\/])scores?\b[^\\/]*([\\/][^\\/]*)?$/.test(path)
}

/** Finds where values begin and end, byte by byte; `JSON.parse` reads each. */
export class ValueScanner {
  readonly #from: string
  #depth = 0
  /** Depth at which values lie; null until the beginning of the file is complete. */
  #level: number | null = null
  #head: Buffer = Buffer.alloc(0)
  #inString = false
  #escaped = false
  /** Bytes of the value that has begun. */
  #parts: Buffer[] = []
  #size = 0
  #values = 0

  constructor(from: string) {
    this.#from = from
  }

  /** The values that end in this piece of the file. Where it is cut does not matter. */
  *push(chunk: Buffer): Generator<unknown> {
    if (this.#level !== null) return yield* this.#scan(chunk, this.#level)
    this.#head = Buffer.concat([this.#head, chunk])
    if (this.#head.length >= HEAD) yield* this.#begin()
  }

  /** The values of a file shorter than its beginning. Throws for one that ends too early. */
  *end(): Generator<unknown> {
    if (this.#level === null) yield* this.#begin()
    if (this.#depth !== 0 || this.#inString) throw this.#invalid('it ends within a value')
  }

  *#begin(): Generator<unknown> {
    const text = this.#head
      .toString('utf8')
      .replace(/^\ufeff/, '')
      .trimStart()
    if (text !== '' && !/^[[{]/.test(text)) throw this.#invalid('it does not begin with { or [')
    const [, key] = /^\{\s*"([A-Za-z_]+)"\s*:\s*\[/.exec(text) ?? []
    this.#level = text.startsWith('[') ? 1 : key !== undefined && wrappers.includes(key) ? 2 : 0
    yield* this.#scan(this.#head, this.#level)
  }

  *#scan(chunk: Buffer, level: number): Generator<unknown> {
    let start = this.#parts.length > 0 ? 0 : -1
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i]
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (byte === BACKSLASH) this.#escaped = true
        else if (byte === QUOTE) this.#inString = false
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN || byte === OPEN_LIST) {
        if (this.#depth === level && byte === OPEN) start = i
        this.#depth += 1
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        this.#depth -= 1
        if (this.#depth < 0) throw this.#invalid('a bracket closes what none opened')
        if (this.#depth > level || start < 0) continue
        this.#keep(chunk.subarray(start, i + 1))
        yield this.#parse()
        start = -1
      }
    }
    if (start >= 0) this.#keep(chunk.subarray(start))
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size > MAX_VALUE_BYTES)
      throw this.#invalid(`value ${this.#values + 1} is larger than ${MAX_VALUE_BYTES / 1024 / 1024} MiB`)
    this.#parts.push(bytes)
  }

  #parse(): unknown {
    const text = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    this.#size = 0
    this.#values += 1
    const value = parseJson(text)
    if (value === undefined) throw this.#invalid(`value ${this.#values} is not valid JSON`)
    return value
  }

  #invalid(why: string): AgentGymError {
    return new AgentGymError({
      code: 'traces_invalid',
      message: `${this.#from} could not be read as JSON: ${why}`,
      hint: 'Export traces as JSON or JSON Lines; Parquet and CSV are not read. docs/bring-your-agent.md lists the formats.',
      data: { from: this.#from },
    })
  }
}
