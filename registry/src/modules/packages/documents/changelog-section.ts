/** Maximum length per version on a page. */
const maxCharacters = 20_000
const fence = /^ {0,3}(`{3,}|~{3,})/
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const underline = /^ {0,3}(=+|-+)[ \t]*$/
const definition = /^ {0,3}\[[^\]]+\]:[ \t]*\S/

type Heading = { level: number; text: string; from: number; to: number }

/**
 * The section of a changelog about one version: from the first heading that names it to the next heading of the same or a
 * higher level. Null if there is none, or it is empty.
 */
export function changelogSection(markdown: string, version: string): string | null {
  const lines = markdown.split(/\r\n|\r|\n/)
  const headings = headingsOf(lines)
  const start = headings.findIndex(({ text }) => names(text, version))
  if (start < 0) return null
  const { level, to } = headings[start]
  const end = headings.slice(start + 1).find((next) => next.level <= level)?.from ?? lines.length
  const section = lines.slice(to, end)
  if (section.every((line) => line.trim() === '' || definition.test(line))) return null
  // Most changelogs define their links at the end.
  const definitions = [...lines.slice(0, to), ...lines.slice(end)].filter((line) => definition.test(line))
  return `${shorten(section.join('\n').trim())}\n\n${shorten(definitions.join('\n'))}`.trim()
}

/** `1.2.0`, not `1.2.0-rc.1`, `11.2.0` or `1.2.0.1`; with and without `v`, brackets, the package's name. */
function names(text: string, version: string): boolean {
  const escaped = version.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?:^|[^\\w.+-])v?${escaped}(?![\\w+-]|\\.\\w)`).test(text)
}

/** Of CommonMark's two kinds, outside of code. */
function headingsOf(lines: string[]): Heading[] {
  const headings: Heading[] = []
  let open: string | undefined
  for (const [at, line] of lines.entries()) {
    const mark = fence.exec(line)?.[1]
    if (open !== undefined) {
      if (mark?.startsWith(open) && line.trim() === mark) open = undefined
      continue
    }
    if (mark !== undefined) {
      open = mark
      continue
    }
    const [, signs, text = ''] = heading.exec(line) ?? []
    if (signs !== undefined) headings.push({ level: signs.length, text, from: at, to: at + 1 })
    const [, drawn] = underline.exec(line) ?? []
    const above = at === 0 ? '' : lines[at - 1].trim()
    if (drawn !== undefined && above !== '' && !heading.test(lines[at - 1]))
      headings.push({ level: drawn.startsWith('=') ? 1 : 2, text: above, from: at - 1, to: at + 1 })
  }
  return headings
}

/** At the end of a line. */
function shorten(text: string): string {
  if (text.length <= maxCharacters) return text
  const end = text.lastIndexOf('\n', maxCharacters)
  return `${text.slice(0, end < 1 ? maxCharacters : end)}\n\n…`
}
