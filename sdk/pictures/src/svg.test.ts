import fc from 'fast-check'
import { expect, it } from 'vitest'
import { svg, svgMarkup } from './svg.ts'

it('escapes any text and attributes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const markup = svgMarkup(svg('text', { x: 1.005, d: undefined, class: text }, text))
      const [, attribute, content] = /^<text x="1" class="([^"<>]*)">([^<>]*)<\/text>$/s.exec(markup) ?? []
      const read = (escaped: string) =>
        escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
      // What no XML document may hold is replaced.
      const writable = text.toWellFormed().replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
      expect(read(attribute)).toBe(writable)
      expect(read(content)).toBe(writable)
    }),
  )
})
