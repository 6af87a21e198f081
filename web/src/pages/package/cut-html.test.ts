import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutHtml } from './cut-html.ts'

describe('the beginning of HTML', () => {
  it('is all of it where that is short enough', () => {
    expect(cutHtml('<p>a</p>', 8)).toBeNull()
    expect(cutHtml('<p>ü</p>', 8)).not.toBeNull()
  })

  it('ends where a block ends', () => {
    const html = `<h2>A</h2>\n<p title="a > b">${'word '.repeat(10)}</p>\n<p>${'x '.repeat(100)}</p>`
    expect(cutHtml(html, 120)).toBe(html.slice(0, html.indexOf('\n<p>')))
  })

  it('closes what is open where one block is longer than all', () => {
    const list = `<ul><li>${'<p>one <b>two</b></p></li><li>'.repeat(1_000)}</li></ul>`
    const cut = cutHtml(list, 1_000) ?? ''
    expect(cut).toMatch(/<\/li><\/ul>$/)
    expect(cut.length).toBeGreaterThan(900)
    const text = `<pre dir="auto">${'&#60;line&#62;\n'.repeat(1_000)}</pre>`
    expect(cutHtml(text, 1_000)).toMatch(/^<pre dir="auto">(?:&#60;line&#62;\n)+<\/pre>$/)
    expect(cutHtml(`<pre>${'x'.repeat(2_000)}</pre>`, 1_000)).toBe('<pre></pre>')
  })

  it('has every element closed and no entity in parts, wherever it ends', () => {
    const leaf = fc.constantFrom(
      'word ',
      '&#x3C;b&#x3E; ',
      '倒立 ',
      '<br>',
      '<img src="/v1/a" alt="a > <b>">',
      '🚗 ',
      '\n',
    )
    const block = fc
      .tuple(fc.constantFrom('p', 'li', 'td', 'blockquote'), fc.array(leaf, { maxLength: 8 }))
      .map(([name, parts]) => `<${name} dir="auto">${parts.join('')}</${name}>`)
    const whole = fc.array(
      fc.oneof(
        block,
        fc.array(block, { maxLength: 5 }).map((list) => `<ul>${list.join('\n')}</ul>`),
      ),
    )
    fc.assert(
      fc.property(whole, fc.integer({ min: 1, max: 400 }), (blocks, bytes) => {
        const html = blocks.join('\n')
        const cut = cutHtml(html, bytes)
        if (cut === null) return
        const open: string[] = []
        for (const [, end, name] of cut.matchAll(/<(\/?)([a-z]+)(?:"[^"]*"|[^">])*>/g)) {
          if (end !== '') expect(open.pop()).toBe(name)
          else if (name !== 'br' && name !== 'img') open.push(name)
        }
        expect(open).toEqual([])
        expect(cut.replaceAll(/&#x3[CE];/g, '')).not.toContain('&')
        expect(cut).not.toContain('\ufffd')
        expect(html.startsWith(cut.replace(/(?:<\/[a-z]+>)+$/, ''))).toBe(true)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes + 30)
      }),
    )
  })
})
