import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'

/** A place in an author's file, which is named relative to the scenario's folder. Line and column count from 1. */
export type SourcePlace = { file: string; line: number; column: number; frame?: string }

/** The name under which a guest's bundle is compiled: its stacks name it. */
export const BUNDLE_NAME = 'scenario.js'

/** How far around its line a frame shows a file. */
const LINES_AROUND = 2
/** A line of a generated file can be as long as the file. */
const MAX_LINE = 160

/**
 * The lines around a place, as compilers show them:
 *
 * ```
 *   src/index.ts:12:11
 *     11 |     state.t += 1
 *   > 12 |     throw new Error('lost at sea')
 *        |           ^
 * ```
 */
export function codeFrame(text: string, { file, line, column }: SourcePlace): string {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const first = Math.max(1, line - LINES_AROUND)
  const last = Math.min(lines.length, line + LINES_AROUND)
  const digits = String(last).length
  const shown = [`${file}:${line}:${column}`]
  for (let number = first; number <= last; number++) {
    const code = lines[number - 1].slice(0, MAX_LINE)
    shown.push(`${number === line ? '>' : ' '} ${String(number).padStart(digits)} | ${withoutTabs(code)}`.trimEnd())
    if (number !== line || column > MAX_LINE) continue
    shown.push(`  ${' '.repeat(digits)} | ${' '.repeat(withoutTabs(code.slice(0, column - 1)).length)}^`)
  }
  return shown.join('\n')
}

function withoutTabs(code: string): string {
  return code.replaceAll('\t', '  ')
}

/**
 * A guest's fault in terms of its author's files: the stack names their lines, and `data` has the place of the innermost
 * frame that is the author's own, with a frame of code. The error as it is where there is no source map or no such frame.
 *
 * The stack is a guest's text and may name any line; all that it can make this show is the author's own files. Without `frames`,
 * no code is shown: for those who may run the scenario and not read it.
 */
export function locateFault<Thrown>(
  error: Thrown,
  sourceMap: string | undefined,
  { frames = true }: { frames?: boolean } = {},
): Thrown | AgentGymError {
  if (sourceMap === undefined || !(error instanceof AgentGymError)) return error
  const { stack } = error.data
  if (typeof stack !== 'string') return error
  const sources = readSources(sourceMap)
  if (sources === undefined) return error
  const places: SourcePlace[] = []
  const located = stack
    .replace(/\bscenario\.js:(\d{1,9}):(\d{1,9})/g, (text, line, column) => {
      const place = sources.place(Number(line), Number(column))
      if (place === undefined) return text
      places.push(place)
      return `${place.file}:${place.line}:${place.column}`
    })
    .replace(/^.*\bagentgym:harness:.*\n?/gm, '')
    .trimEnd()
  const place = places.find(({ file }) => isAuthors(file))
  if (place === undefined) return error
  const { file, line, column } = place
  const text = frames ? sources.text(file) : undefined
  const { code, message, hint, data } = error.toReport()
  const frame = text === undefined ? {} : { frame: codeFrame(text, place) }
  return new AgentGymError(
    {
      code,
      message: withPlace(message, `${file}:${line}`),
      hint,
      data: { ...data, stack: located, file, line, column, ...frame },
    },
    { cause: error },
  )
}

/** After the scenario's name, where failures of a build have it, too. */
function withPlace(message: string, place: string): string {
  return message.replace(/^(Scenario \S+: )?/, (scenario) => `${scenario}${place}: `)
}

function isAuthors(file: string): boolean {
  return !file.split('/').includes('node_modules') && !file.includes(':')
}

type Sources = {
  /** Of a place in the bundle; undefined where it comes from no file. */
  place(line: number, column: number): SourcePlace | undefined
  text(file: string): string | undefined
}

/** Finds places of the bundle in the author's files; those of the bundle itself where there is no source map for them. */
export function locatePlace(sourceMap: string | undefined): (line: number, column: number) => SourcePlace {
  const sources = sourceMap === undefined ? undefined : readSources(sourceMap)
  return (line, column) =>
    (line > 0 && column > 0 ? sources?.place(line, column) : undefined) ?? { file: BUNDLE_NAME, line, column }
}

/** Sources are named as seen from the bundle's folder, dist. */
function nameOfSource(source: string): string {
  return source.includes(':') ? source : path.posix.join('dist', source)
}

/** Undefined for what is no source map: a published package may carry anything under that name. */
function readSources(sourceMap: string): Sources | undefined {
  let payload: MapPayload
  let map: SourceMap
  try {
    payload = mapSchema.parse(JSON.parse(sourceMap))
    map = new SourceMap(payload as SourceMapPayload)
  } catch {
    return undefined
  }
  return {
    place(line, column) {
      const entry = map.findEntry(line - 1, column - 1)
      if (!('originalSource' in entry) || typeof entry.originalSource !== 'string') return undefined
      const { originalSource, originalLine, originalColumn } = entry
      return { file: nameOfSource(originalSource), line: originalLine + 1, column: originalColumn + 1 }
    },
    text: (file) =>
      payload.sourcesContent[payload.sources.findIndex((source) => nameOfSource(source) === file)] ?? undefined,
  }
}

const mapSchema = z.object({
  version: z.literal(3),
  sources: z.array(z.string().max(500)).max(20_000),
  sourcesContent: z.array(z.string().nullable()).max(20_000),
  names: z.array(z.string()),
  mappings: z.string(),
})
type MapPayload = z.infer<typeof mapSchema>

/**
 * The source map that a package carries beside its bundle, for errors alone: where a fault is in the author's files. It has the
 * text of the files that the package ships anyway, of no other. Undefined where the entry is not shipped.
 */
export function publishedSourceMap(
  { sourceMap, package: { agentgym } }: { sourceMap?: string; package: { agentgym: { entry: string } } },
  shipped: ReadonlySet<string>,
): string | undefined {
  if (sourceMap === undefined || !shipped.has(path.posix.normalize(agentgym.entry))) return undefined
  const map = mapSchema.parse(JSON.parse(sourceMap))
  const sourcesContent = map.sources.map((source, i) =>
    shipped.has(nameOfSource(source)) ? map.sourcesContent[i] : null,
  )
  return `${JSON.stringify({ ...map, sourcesContent })}\n`
}
