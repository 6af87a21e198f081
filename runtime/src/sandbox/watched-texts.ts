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

/**
 * Reads what the engine's `TextWatch` encoded. It shares a realm with a stranger's code: what does not read ends there, and
 * control characters, which mean nothing to whoever looks at a picture, are spaces.
 */
export function readWatchedTexts(encoded: string): WatchedTexts {
  const reader = { encoded, at: 0 }
  return { now: readTexts(reader), final: readTexts(reader) }
}

type Reader = { encoded: string; at: number }

function readTexts(reader: Reader): string[] {
  const count = readNumber(reader, ';', MAX_TEXTS)
  const texts: string[] = []
  while (texts.length < count) {
    const length = readNumber(reader, ':', MAX_CHARACTERS)
    texts.push(printable(reader.encoded.slice(reader.at, reader.at + length)))
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
