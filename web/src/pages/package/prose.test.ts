import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitHeadings } from './prose.tsx'

describe('headings of a README', () => {
  it('go down below those of the page, at most to the sixth', () => {
    const html = '<h1 dir="auto">A</h1><h2 id="h1">h2</h2><h6>F</h6><hr><header>h3</header>'
    expect(fitHeadings(html, 'B', 1)).toBe('<h2 dir="auto">A</h2><h3 id="h1">h2</h3><h6>F</h6><hr><header>h3</header>')
    expect(fitHeadings('<h1>A</h1><h5>E</h5>', 'B', 2)).toBe('<h3>A</h3><h6>E</h6>')
  })

  it('a first one that says what the page is called is left out', () => {
    expect(fitHeadings('<h1 dir="auto">Cart-Pole!</h1>\n<p>It</p>', 'Cart pole', 1)).toBe('\n<p>It</p>')
    expect(fitHeadings('<p>It</p><h1>Cart pole</h1>', 'Cart pole', 1)).toContain('<h2>Cart pole</h2>')
    expect(fitHeadings('<h1><code>Cart</code> pole</h1>', 'Cart pole', 1)).toContain('<h2>')
  })

  it('change digits alone, whatever the text is', () => {
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
