import { describe, expect, it } from 'vitest'
import { compareTexts } from './compare-texts.ts'
import { highlightText } from './highlight.ts'

/** The text of HTML that consists of spans with classes, whatever else it may contain. */
function textOf(html: string): string {
  const text = html.replace(/<span class="[a-zA-Z0-9 -]+">|<\/span>/g, '')
  expect(text).not.toMatch(/[<>"']/)
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

const hostile = `</span></pre><script>alert("1")</script>' onload='x' & &lt; <!-- */ \`\${`

describe('highlighting', () => {
  it.each(['a.ts', 'a.tsx', 'a.js', 'a.json', 'a.md', 'a.py', 'a.yml', 'a.txt', 'a', '__proto__', 'a.constructor'])(
    'keeps every character of %s, and nothing of it is markup',
    (path) => {
      const text = `const a = "${hostile}"\n/* ${hostile}\n${hostile} */\n\n# b\n${hostile}`
      expect(textOf(highlightText(path, text))).toBe(text)
    },
  )

  it('marks tokens, none of them over two lines', () => {
    const html = highlightText('src/index.ts', '/* a\nb */ const c: number = "d"')
    expect(html).toContain('<span class="tok-keyword">const</span>')
    for (const line of html.split('\n'))
      expect(line.match(/<span/g)?.length ?? 0).toBe(line.match(/<\/span>/g)?.length ?? 0)
  })
})

describe('comparing', () => {
  it('finds the lines that differ, with their surroundings', () => {
    const before = 'a\nb\nc\nd\ne\nf\ng\n'
    expect(compareTexts(before, before.replace('e', 'E'))).toEqual([
      { before_line: 2, after_line: 2, lines: [' b', ' c', ' d', '-e', '+E', ' f', ' g'] },
    ])
    expect(compareTexts('', 'a\n')).toEqual([{ before_line: 1, after_line: 1, lines: ['+a'] }])
    expect(compareTexts(before, before)).toEqual([])
  })

  it('gives up where too much differs', () => {
    const lines = (letter: string) => Array.from({ length: 5_000 }, (_, index) => `${letter}${index}\n`).join('')
    expect(compareTexts(lines('a'), lines('b'))).toBeNull()
  })
})
