import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { picturePath } from './picture-path.ts'

describe('the file that a picture of a README names', () => {
  it.each([
    ['curve.png', 'curve.png'],
    ['./docs/curve.PNG', 'docs/curve.PNG'],
    ['docs/a%20curve.jpeg', 'docs/a curve.jpeg'],
    ['docs%2Fcurve.webp', 'docs/curve.webp'],
    ['docs/curve.gif?raw=true#x', 'docs/curve.gif'],
    ['%E5%9B%BE.jpg', '图.jpg'],
  ])('%s is %s', (source, path) => expect(picturePath(source)).toBe(path))

  it.each([
    '../curve.png',
    'docs/../../curve.png',
    '..%2fcurve.png',
    '%2e%2e/curve.png',
    '%2Fetc/curve.png',
    '/curve.png',
    '//example.org/curve.png',
    '\\\\example.org\\curve.png',
    'docs\\curve.png',
    'docs%5ccurve.png',
    'docs//curve.png',
    'docs/./curve.png',
    'https://example.org/curve.png',
    'HTTPS:curve.png',
    'data:image/png;base64,AAAA.png',
    'javascript:alert(1)//.png',
    'file:///curve.png',
    'c:curve.png',
    'curve%00.png',
    'curve%zz.png',
    'curve.svg',
    'curve.png.html',
    'curve',
    'agent.json?.png',
    'agent.json#.png',
    '',
  ])('%j is none', (source) => expect(picturePath(source)).toBeNull())

  it('whatever it is, it lies in the folder', () => {
    const part = fc.constantFrom('..', '.', '/', '\\', '%2f', '%5C', '%2e', '%252e', 'a', ':', '%00', '?', '#', '.png')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
        const path = picturePath(`${parts.join('')}.png`)
        if (path === null) return
        expect(new URL(path.split('/').map(encodeURIComponent).join('/'), 'file:///folder/').href).toMatch(
          /^file:\/\/\/folder\/./,
        )
        expect(path).not.toMatch(/[\\\0]|^\/|(?:^|\/)\.{0,2}(?:\/|$)/)
      }),
    )
  })
})
