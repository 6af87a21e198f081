import { afterAll, describe, expect, it } from 'vitest'
import { ReadmeRenderer } from './readme-renderer.ts'

describe('the renderer of READMEs', () => {
  const renderer = new ReadmeRenderer()
  afterAll(() => renderer.close())

  it('renders each version once', async () => {
    const [first, second] = await Promise.all([renderer.readme('1', '# A'), renderer.readme('1', '# A')])
    expect(first).toBe('<h1 dir="auto">A</h1>')
    expect(second).toBe(first)
    expect(await renderer.readme('1', 'versions do not change')).toBe(first)
    expect(await renderer.readme('2', '# B')).toBe('<h1 dir="auto">B</h1>')
  })

  it('shows as text what takes too long, nests too deep or uses up memory, and goes on', async () => {
    const hostile = [']'.repeat(100_000), '>'.repeat(60_000)]
    for (const [index, markdown] of hostile.entries()) {
      let turns = 0
      const turning = setInterval(() => turns++, 20)
      const html = await renderer.readme(`hostile ${index}`, `${markdown}<script>`)
      clearInterval(turning)
      expect(html.startsWith('<pre dir="auto">')).toBe(true)
      expect(html).not.toContain('<script>')
      // The thread that answers requests went on meanwhile.
      expect(turns).toBeGreaterThan(0)
    }
    expect(await renderer.readme('3', '# C')).toBe('<h1 dir="auto">C</h1>')
  })
})
