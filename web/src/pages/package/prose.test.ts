import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutHtml, fitHeadings } from './prose.tsx'

describe('prose', () => {
  describe('headings of a README', () => {
    it('are shifted below those of the page, at most to the sixth level', () => {
      const html = '<h1 dir="auto">A</h1><h2 id="h1">h2</h2><h6>F</h6><hr><header>h3</header>'
      expect(fitHeadings(html, 'B', 1)).toBe(
        '<h2 dir="auto">A</h2><h3 id="h1">h2</h3><h6>F</h6><hr><header>h3</header>',
      )
      expect(fitHeadings('<h1>A</h1><h5>E</h5>', 'B', 2)).toBe('<h3>A</h3><h6>E</h6>')
    })

    it('a first one equal to the page title is omitted', () => {
      expect(fitHeadings('<h1 dir="auto">Cart-Pole!</h1>\n<p>It</p>', 'Cart pole', 1)).toBe('\n<p>It</p>')
      expect(fitHeadings('<p>It</p><h1>Cart pole</h1>', 'Cart pole', 1)).toContain('<h2>Cart pole</h2>')
      expect(fitHeadings('<h1><code>Cart</code> pole</h1>', 'Cart pole', 1)).toContain('<h2>')
    })

    it('change only digits', () => {
      const parts = fc.array(
        fc.oneof(
          fc.constantFrom('<h1>', '</h1>', '<h3 id="x">', '<', '>', '"', 'h1', '<a href="', '&#x3C;h1>'),
          fc.string(),
        ),
      )
      fc.assert(
        fc.property(parts, fc.constantFrom(1, 2), (list, below) => {
          const html = `<p>${list.join('')}`
          const digits = (text: string) => text.replaceAll(/\d/g, '0')
          expect(digits(fitHeadings(html, 'none', below))).toBe(digits(html))
        }),
      )
    })
  })
})

describe('cut html', () => {
  describe('the beginning of HTML', () => {
    it('is unchanged if short enough', () => {
      expect(cutHtml('<p>a</p>', 8)).toBeNull()
      expect(cutHtml('<p>ü</p>', 8)).not.toBeNull()
    })

    it('ends at the end of a block', () => {
      const html = `<h2>A</h2>\n<p title="a > b">${'word '.repeat(10)}</p>\n<p>${'x '.repeat(100)}</p>`
      expect(cutHtml(html, 120)).toBe(html.slice(0, html.indexOf('\n<p>')))
    })

    it('closes open elements within an oversized block', () => {
      const list = `<ul><li>${'<p>one <b>two</b></p></li><li>'.repeat(1_000)}</li></ul>`
      const cut = cutHtml(list, 1_000) ?? ''
      expect(cut).toMatch(/<\/li><\/ul>$/)
      expect(cut.length).toBeGreaterThan(900)
      const text = `<pre dir="auto">${'&#60;line&#62;\n'.repeat(1_000)}</pre>`
      expect(cutHtml(text, 1_000)).toMatch(/^<pre dir="auto">(?:&#60;line&#62;\n)+<\/pre>$/)
      expect(cutHtml(`<pre>${'x'.repeat(2_000)}</pre>`, 1_000)).toBe('<pre></pre>')
    })

    it('closes every element and splits no entity', () => {
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
})
