import { AgentGymError } from '@agentgym/contract'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { answerError } from './answer-error.ts'
import type { Env } from './env.ts'
import { limitTime } from './request-limits.ts'

function app(timeoutMs: number): { fetch(path: string): Promise<Response>; logged: string[] } {
  const logged: string[] = []
  const log = () => (message: string) => void logged.push(message)
  const routes = new Hono<Env>()
  routes.onError(answerError({ info: log(), warn: log(), error: log() }))
  routes.use(
    async (c, next) => {
      c.set('rules', { access: 'anyone', timeoutMs })
      await next()
    },
    limitTime({ down: () => [] }),
  )
  routes.get('/never', () => new Promise<Response>(() => {}))
  routes.get('/late-failure', async () => {
    await new Promise((resolve) => setTimeout(resolve, 2 * timeoutMs))
    throw new Error('nobody waits for this any more')
  })
  routes.get('/quick', (c) => c.text('done'))
  routes.get('/failing', () => {
    throw new AgentGymError({ code: 'forbidden', message: 'No.' })
  })
  return { fetch: async (path) => routes.request(path), logged }
}

it.each(['/never', '/late-failure'])('times out on %s with an error', async (path) => {
  const response = await app(30).fetch(path)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({
    error: { code: 'request_timeout', message: 'The server did not finish this request within 0.03 s.' },
  })
  // Where what failed late went unhandled, this would end the process.
  await new Promise((resolve) => setTimeout(resolve, 60))
})

it('does not affect requests that end in time', async () => {
  const { fetch, logged } = app(10_000)
  expect(await (await fetch('/quick')).text()).toBe('done')
  expect((await fetch('/failing')).status).toBe(403)
  expect(logged).toEqual([])
})
