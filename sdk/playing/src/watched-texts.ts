/** As many as the engine gives of each observation, and units of each. */
const MAX_TEXTS = 4
const MAX_CHARACTERS = 500

/** What the texts of one row's observations say, in order of the leaves. */
export type WatchedTexts = {
  /** Of the row in `buffers.observations`. */
  now: string[]
  /** Of the row in `buffers.finalObservations`: of the episode that ended last. */
  final: string[]
}

const beginnings: TextLimits = { texts: MAX_TEXTS, characters: MAX_CHARACTERS, take: printable }

/**
 * Reads what the engine's `TextWatch` encoded. It shares a realm with a stranger's code: what does not read ends there, and
 * control characters become spaces.
 */
export function readWatchedTexts(encoded: string): WatchedTexts {
  const reader = { encoded, at: 0 }
  return { now: readTexts(reader), final: readTexts(reader) }
}

/** Longest text of an observation, and texts of one. */
const MAX_WHOLE_TEXT = 1_000_000
const MAX_WHOLE_TEXTS = 256

/** Reads what the engine's `AllTexts` encoded, as it is: it is for programs. What does not read ends there. */
export function readAllTexts(encoded: string, rows: number): WatchedTexts[] {
  const reader = { encoded, at: 0 }
  const whole = (text: string) => text.toWellFormed()
  const read = () => readTexts(reader, { texts: MAX_WHOLE_TEXTS, characters: MAX_WHOLE_TEXT, take: whole })
  return Array.from({ length: rows }, () => ({ now: read(), final: read() }))
}

type Reader = { encoded: string; at: number }

type TextLimits = { texts: number; characters: number; take(text: string): string }

function readTexts(reader: Reader, { texts: most, characters, take }: TextLimits = beginnings): string[] {
  const count = readNumber(reader, ';', most)
  const texts: string[] = []
  while (texts.length < count) {
    const length = readNumber(reader, ':', characters)
    texts.push(take(reader.encoded.slice(reader.at, reader.at + length)))
    reader.at += length
  }
  return texts
}

/** Digits up to `sign`; 0 where there are none, or where it is more than `most`. */
function readNumber(reader: Reader, sign: string, most: number): number {
  const end = reader.encoded.indexOf(sign, reader.at)
  const number = end < 0 ? 0 : Number(reader.encoded.slice(reader.at, end))
  if (end >= 0) reader.at = end + 1
  return Number.isInteger(number) && number >= 0 && number <= most ? number : 0
}

/** A text of a stranger as `sampleEpisodeSchema` takes it. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[^\P{Cc}\t\n]/gu, ' ')
}
