import { isLong } from '@agentgym/testkit/tier'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { picturePath, markdownHtml as renderMarkdown, type ShownPictures } from './markdown-html.ts'

describe('markdown html', () => {
  const markdownHtml = (markdown: string, pictures?: ShownPictures) => renderMarkdown(markdown, pictures).html

  /**
   * Element names and attributes that the HTML has, taken from its tags as a browser takes them: within quotes, `<` and `>`
   * are text (a link's title may be `<script>`).
   */
  function elements(html: string): { name: string; attributes: string }[] {
    return [...html.matchAll(/<([a-z][a-z0-9]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/gi)].map(([, name, attributes]) => ({
      name,
      attributes,
    }))
  }

  const attacks = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<iframe src="https://example.org"></iframe>',
    '<svg onload=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<style>body{display:none}</style>',
    '<form action=https://example.org><input name=password></form>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java&#10;script:alert(1))',
    '[x](&#x6A;avascript:alert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD4=)',
    '[x](vbscript:x)',
    '[x](file:///etc/passwd)',
    '<javascript:alert(1)>',
    '![x](javascript:alert(1))',
    '![x](https://example.org/pixel.gif)',
    '[x]: javascript:alert(1)\n\n[x]',
    '[x](https://example.org "\\" onmouseover=alert(1)")',
    '```"onload=alert(1)\nx\n```',
    '```<script>alert(1)</script>\nx\n```',
    '[x](https://example.org "<script>alert(1)</script>")',
    '# x {#id onclick=alert(1)}',
    '| <script> |\n|-|\n| <img onerror=x> |',
    '[^1]\n\n[^1]: <script>x</script>',
  ]

  describe('HTML of Markdown', () => {
    it('renders Markdown', () => {
      const html = markdownHtml(
        '# Maze\n\nA **maze**, `x < 1`:\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n- [x] done\n\n```ts\nlet a\n```\n',
      )
      for (const part of [
        '<h1 dir="auto">Maze</h1>',
        '<strong>',
        '<code>x &#x3C; 1</code>',
        '<table tabindex="0">',
        '<pre tabindex="0">',
        'type="checkbox" checked disabled aria-label="done"',
        'language-ts',
      ])
        expect(html).toContain(part)
    })

    it('keeps only the language after a code fence', () => {
      for (const language of ['ts', 'c++', 'c#', 'objective-c', 'x.y'])
        expect(markdownHtml(`\`\`\`${language} title=x\n\`\`\``)).toContain(`<code class="language-${language}">`)
      for (const language of ['<script>', '"onload=alert(1)', 'é', 'x'.repeat(41)])
        expect(markdownHtml(`\`\`\`${language}\n\`\`\``)).toContain('<code class="">')
    })

    it('keeps every script', () => {
      const text = '你好 · crème brûlée · 🚗👩‍🔬 · مرحبا'
      expect(markdownHtml(text)).toBe(`<p dir="auto">${text}</p>`)
    })

    it.each(attacks)('is inert: %j', (attack) => {
      for (const markdown of [attack, `text ${attack} text`, `> - ${attack}`]) expectInert(markdownHtml(markdown))
    })

    it('is inert for any combination of attacks', () => {
      const parts = fc.oneof(
        fc.constantFrom(...attacks),
        fc.constantFrom('\n', '>', '`', '"', "'", '](', '<!--', '-->', ' '),
      )
      fc.assert(
        fc.property(fc.array(parts, { maxLength: 8 }), (list) => expectInert(markdownHtml(list.join('')))),
        { numRuns: isLong ? 5_000 : 100 },
      )
    })

    it('links to the web and to mail, with nofollow', () => {
      expect(markdownHtml('[a](https://example.org)')).toContain(
        '<a href="https://example.org" rel="nofollow noopener noreferrer">a</a>',
      )
      expect(markdownHtml('[a](mailto:a@example.org)')).toContain('href="mailto:a@example.org"')
      expect(markdownHtml('[a](docs/x.md) [b](//example.org) [c](/x)')).toBe(
        '<p dir="auto"><a>a</a> <a>b</a> <a>c</a></p>',
      )
      expect(markdownHtml('[a](#rules)')).toContain('href="#rules"')
    })

    it('links external images instead of loading them', () => {
      expect(markdownHtml('![A curve](https://example.org/curve.png)')).toBe(
        '<p dir="auto"><a href="https://example.org/curve.png" rel="nofollow noopener noreferrer">A curve</a></p>',
      )
    })

    const address = `/v1/packages/@a/maze/versions/1.0.0/readme/pictures/${'0'.repeat(64)}`
    const pictures = { 'docs/curve.png': { address, width: 640, height: 480 } }

    it('shows the given images of the package under any spelling, and returns all referenced paths', () => {
      const shown = `<img src="${address}" alt="A &#x22;curve&#x22; <b>" width="640" height="480" loading="lazy" decoding="async">`
      for (const source of ['docs/curve.png', './docs/curve.png', 'docs/curve.png?raw=true', 'docs%2Fcurve.png'])
        expect(markdownHtml(`![A "curve" <b>](${source})`, pictures)).toBe(`<p dir="auto">${shown}</p>`)
      const { html, named } = renderMarkdown('![b](b.gif) ![a](docs/curve.png) ![b](./b.gif)\n\n![c](c.svg)', pictures)
      expect(named).toEqual(['b.gif', 'docs/curve.png'])
      expect(html).toContain('<a>b</a>')
      expect(html.match(/<img /g)).toHaveLength(1)
    })

    it('shows no other image, however it is referenced', () => {
      const table: ShownPictures = { ...pictures, toString: pictures['docs/curve.png'] }
      for (const attack of [
        ...attacks,
        '![x](__proto__)',
        '![x](constructor.png)',
        '![x](https://example.org/docs/curve.png)',
        '<img src="docs/curve.png">',
        `![x](${address})`,
        '![x](/docs/curve.png)',
        '![x](../docs/curve.png)',
        '![x](DOCS/curve.png)',
      ])
        expectInert(markdownHtml(attack, table))
    })
  })

  function expectInert(html: string): void {
    for (const { name, attributes } of elements(html)) {
      expect([
        'script',
        'style',
        'iframe',
        'img',
        'svg',
        'form',
        'object',
        'embed',
        'base',
        'meta',
        'link',
      ]).not.toContain(name.toLowerCase())
      const outside = attributes.replace(/"[^"]*"/g, '""')
      expect(outside).not.toMatch(/\son\w+\s*=|style\s*=|srcdoc/i)
      const href = /href="([^"]*)"/.exec(attributes)?.[1]
      if (href !== undefined) expect(href).toMatch(/^(?:https?:\/\/|mailto:|#)/i)
    }
  }
})

describe('picture path', () => {
  describe('the path of an image in a README', () => {
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
    ])('%j is invalid', (source) => expect(picturePath(source)).toBeNull())

    it('always stays inside the folder', () => {
      const part = fc.constantFrom(
        '..',
        '.',
        '/',
        '\\',
        '%2f',
        '%5C',
        '%2e',
        '%252e',
        'a',
        ':',
        '%00',
        '?',
        '#',
        '.png',
      )
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
})
