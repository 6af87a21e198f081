import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { EpisodeSession } from '../episode-session.ts'
import type { ProtocolContext } from '../protocol.ts'
import { readBody, readRequest } from '../read-request.ts'
import { sessionForReset, sessionOf } from './http-client.ts'
import { JsonRpc } from './json-rpc.ts'
import { openApi } from './openapi.ts'
import { OpenEnvSessions } from './openenv-sessions.ts'
import { playSocket, rpcSocket } from './openenv-sockets.ts'
import { playReset, playStep } from './play-openenv.ts'
import { addTaskRoutes } from './task-routes.ts'
import { wireSchemas, wireState } from './wire-forms.ts'

const stepSchema = z.looseObject({
  action: z.record(z.string(), z.unknown()),
  episode_id: z.string().max(255).nullish(),
  timeout_s: z.number().positive().nullish(),
  request_id: z.string().max(255).nullish(),
})

/** OpenEnv 0.10: routes, sockets, the task API and JSON-RPC. */
export function mountOpenEnv({ app, environment, sessions: all, metrics }: ProtocolContext): void {
  const sessions = new OpenEnvSessions(environment, all)
  const rpc = new JsonRpc(environment, sessions, metrics)
  const schemas = wireSchemas(environment)
  const { package: manifest, readme } = environment

  app.get('/health', (c) => c.json({ status: 'healthy' }))
  app.get('/schema', (c) => c.json(schemas))
  app.get('/openapi.json', (c) => c.json(openApi(environment, schemas)))
  app.get('/metadata', (c) =>
    c.json({
      name: environment.name,
      description: manifest.agentgym.summary,
      readme_content: readme,
      version: manifest.version,
      author: /^@([^/]+)\//.exec(manifest.name)?.[1] ?? null,
      documentation_url: null,
    }),
  )
  app.post('/reset', async (c) => {
    const data = await readBody(c)
    const session = await sessionForReset(c, sessions, textIn(data, 'episode_id'))
    return c.json(await playReset(session, data))
  })
  app.post('/step', async (c) => {
    const { action, episode_id, timeout_s } = await readRequest(c, stepSchema)
    const session = sessionOf(c, sessions, episode_id ?? undefined)
    return c.json(await within(timeout_s, session, playStep(session, action, metrics)))
  })
  app.get('/state', (c) => c.json(wireState(sessionOf(c, sessions, c.req.query('episode_id')))))

  app.get('/mcp', rpcSocket({ sessions, rpc, metrics }))
  app.post('/mcp', async (c) => c.json(await rpc.answerText(await c.req.text())))
  app.get('/ws', playSocket({ sessions, rpc, metrics }))
  addTaskRoutes(app, environment)
}

/** A client that gives up on a step cannot go on from it: the session ends, and the answer says so. */
async function within<Result>(
  seconds: number | null | undefined,
  session: EpisodeSession,
  step: Promise<Result>,
): Promise<Result> {
  if (seconds === null || seconds === undefined) return step
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new AgentGymError({
      code: 'scenario_timeout',
      message: `The step took longer than timeout_s, which is ${seconds} s; the session was ended.`,
    })
    void session.end(error)
    reject(error)
  }, seconds * 1_000)
  try {
    return await Promise.race([step, late])
  } finally {
    clearTimeout(timer)
    step.catch(() => {})
  }
}

function textIn(body: unknown, field: string): string | undefined {
  const value = (Object(body) as Record<string, unknown>)[field]
  return typeof value === 'string' ? value : undefined
}
