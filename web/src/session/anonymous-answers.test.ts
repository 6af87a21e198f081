import { describe, expect, it } from 'vitest'
import { keepAnonymousAnswers } from './anonymous-answers.ts'

/** An API that counts how often it was asked. */
function counting(answer: (count: number) => Response = (count) => Response.json({ count })) {
  const asked: string[] = []
  const call = async ({ url }: Request) => {
    asked.push(url)
    return answer(asked.length)
  }
  return { asked, call }
}
const request = (path = '/v1/packages') => new Request(`http://localhost${path}`)

describe('answers to strangers', () => {
  it('are asked for once, however many wait, and shown again', async () => {
    const { asked, call } = counting()
    const answers = keepAnonymousAnswers({ ttlMs: 60_000, most: 10 })
    const found = await Promise.all([1, 2, 3].map(() => answers.fetch(request(), call)))
    found.push(await answers.fetch(request(), call))
    expect(await Promise.all(found.map((one) => one.json()))).toEqual(Array(4).fill({ count: 1 }))
    expect(asked).toHaveLength(1)
  })

  it('differ by the whole address', async () => {
    const { asked, call } = counting()
    const answers = keepAnonymousAnswers({ ttlMs: 60_000, most: 10 })
    for (const path of ['/a', '/a?b', '/a?c', '/a']) await answers.fetch(request(path), call)
    expect(asked).toHaveLength(3)
  })

  it('are asked for anew once they are old', async () => {
    const { asked, call } = counting()
    const answers = keepAnonymousAnswers({ ttlMs: 0, most: 10 })
    await answers.fetch(request(), call)
    await answers.fetch(request(), call)
    expect(asked).toHaveLength(2)
  })

  it('are not kept where something failed', async () => {
    const { asked, call } = counting((count) => {
      if (count === 1) throw new Error('the connection broke')
      return Response.json({ count }, { status: count === 2 ? 429 : 200 })
    })
    const answers = keepAnonymousAnswers({ ttlMs: 60_000, most: 10 })
    await expect(answers.fetch(request(), call)).rejects.toThrow('broke')
    expect((await answers.fetch(request(), call)).status).toBe(429)
    expect((await answers.fetch(request(), call)).status).toBe(200)
    expect((await answers.fetch(request(), call)).status).toBe(200)
    expect(asked).toHaveLength(3)
  })

  it('are kept up to a number, the oldest going first', async () => {
    const { asked, call } = counting()
    const answers = keepAnonymousAnswers({ ttlMs: 60_000, most: 2 })
    for (const path of ['/a', '/b', '/c', '/c', '/b', '/a']) await answers.fetch(request(path), call)
    expect(asked.map((url) => new URL(url).pathname)).toEqual(['/a', '/b', '/c', '/a'])
  })

  it('are not kept where they are huge', async () => {
    const { asked, call } = counting(() => new Response('x'.repeat(600_000)))
    const answers = keepAnonymousAnswers({ ttlMs: 60_000, most: 2 })
    for (const path of ['/a', '/a']) await answers.fetch(request(path), call)
    expect(asked).toHaveLength(2)
  })
})
