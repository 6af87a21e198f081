/** A fenced block: its language, the words after it, its text, and the line (from 1) on which the text begins. */
export type CodeBlock = { language: string; marks: string[]; text: string; line: number }

/** The fenced code blocks of a Markdown page, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: (CodeBlock & { fence: string }) | undefined
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^\s*(```+|~~~+)\s*(.*)$/.exec(line)
    if (!open && fence) {
      const [language = '', ...marks] = fence[2].trim().split(/\s+/)
      open = { language, marks, text: '', line: index + 2, fence: fence[1] }
    } else if (open && fence?.[1] === open.fence && fence[2] === '') {
      blocks.push({ language: open.language, marks: open.marks, text: open.text, line: open.line })
      open = undefined
    } else if (open) {
      open.text += `${line}\n`
    }
  }
  return blocks
}

/** The page without its code, line for line: what is in code is no link and no heading. */
function proseOf(markdown: string): string {
  let inCode = false
  return markdown
    .split('\n')
    .map((line) => {
      const fence = /^\s*(```+|~~~+)/.test(line)
      if (fence) inCode = !inCode
      return fence || inCode ? '' : line.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length))
    })
    .join('\n')
}

/** Where the links and pictures of a page lead, with the line (from 1) each stands on. */
export function links(markdown: string): { target: string; line: number }[] {
  const inline = /!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g
  const reference = /^\s*\[[^\]]+\]:\s*(\S+)/g
  const html = /<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)="([^"]+)"/g
  return proseOf(markdown)
    .split('\n')
    .flatMap((text, index) =>
      [inline, reference, html].flatMap((pattern) =>
        // A picture that is a link is two links: look inside its text as well.
        [text, text.replace(/!\[[^\]]*\]\([^)]*\)/g, '')].flatMap((view) =>
          [...view.matchAll(pattern)].map(([, target]) => ({ target, line: index + 1 })),
        ),
      ),
    )
    .filter(
      ({ target, line }, index, all) =>
        all.findIndex((other) => other.target === target && other.line === line) === index,
    )
}

/**
 * Paths that a page names in backticks, with their line: `docs/errors.md` and `sdk/cli/`, not `x.test.ts` or `test/`. Patterns,
 * placeholders (`AREA`), addresses, names of packages, paths inside a tarball and whatever holds a space are none.
 */
export function paths(markdown: string): { path: string; line: number }[] {
  const segments = /^[\w-][\w.-]*(\/[\w.-]+)+\/?$/
  const ending = /(\/|\.(ts|tsx|mjs|md|sh|json|cc|h|py|yml|svg))$/
  let inCode = false
  return markdown.split('\n').flatMap((text, index) => {
    if (/^\s*(```+|~~~+)/.test(text)) inCode = !inCode
    if (inCode) return []
    return [...text.matchAll(/`([^`]+)`/g)]
      .map(([, path]) => path.replace(/^\.\//, ''))
      .filter((path) => segments.test(path) && ending.test(path) && !/^package\/|(^|\/)(AREA|NAME)\b/.test(path))
      .map((path) => ({ path, line: index + 1 }))
  })
}

/** The anchors that a Markdown page offers, made from its headings as GitHub makes them. */
export function anchors(markdown: string): Set<string> {
  const found = new Set<string>()
  // Headings keep the words that stand in code.
  const prose = proseOf(markdown).split('\n')
  for (const [index, line] of markdown.split('\n').entries()) {
    const heading = /^#{1,6}\s/.test(prose[index]) ? /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1] : undefined
    if (heading === undefined) continue
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let unique = slug
    for (let count = 1; found.has(unique); count++) unique = `${slug}-${count}`
    found.add(unique)
  }
  for (const [, id] of markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)) found.add(id)
  return found
}
