import fc from 'fast-check'
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

  it('a text waits for at most one hostile text of another account', async () => {
    const renderer = new ReadmeRenderer()
    const order: string[] = []
    const render = async (account: string, markdown: string) => {
      await renderer.render(markdown, {}, { account })
      order.push(account)
    }
    // The first is being rendered, the others wait.
    const texts = Array.from({ length: 31 }, (_, index) => (index < 5 ? ']'.repeat(100_000) : '# A'))
    const hostile = texts.map((text) => render('hostile', text))
    const others = ['a', 'b', 'c'].map((account) => render(account, '# A'))
    await Promise.all(others)
    expect(order.indexOf('c')).toBeLessThanOrEqual(4)
    await Promise.all(hostile)
    expect(order).toHaveLength(34)
    await renderer.close()
  })

  it('gives every account its turn', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 }), async (accounts) => {
        const order: string[] = []
        await Promise.all(
          accounts.map(async (account) => {
            const { html } = await renderer.render(`# ${account}`, {}, { account })
            expect(html).toContain(account)
            order.push(account)
          }),
        )
        expect(order.toSorted()).toEqual(accounts.toSorted())
        // Before the nth text of an account, any other has had n + 1 turns at most.
        const turns = { a: 0, b: 0, c: 0 } as Record<string, number>
        for (const account of order) {
          const own = turns[account]++
          for (const other of Object.values(turns)) expect(other).toBeLessThanOrEqual(own + 2)
        }
      }),
      { numRuns: 20 },
    )
  })

  it('shows texts that take too long, nest too deeply or exhaust memory as plain text, and continues', async () => {
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
