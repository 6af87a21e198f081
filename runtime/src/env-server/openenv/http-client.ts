import { AgentGymError } from '@agentgym/contract'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { EpisodeSession } from '../episode-session.ts'
import type { OpenEnvSessions } from './openenv-sessions.ts'

/** One for each environment of a server: a client may play several. */
const cookieOf = (sessions: OpenEnvSessions) => `agentgym_session_${sessions.environment.name}`
const HEADER = 'x-session-id'

/**
 * The session of a client that speaks HTTP alone. It says which one is its own by the header `X-Session-Id`, by the name of its
 * episode, or by the cookie that the reset set; nothing else tells two clients apart.
 */
export function sessionOf(c: Context, sessions: OpenEnvSessions, episodeId: string | undefined): EpisodeSession {
  const header = c.req.header(HEADER)
  if (header !== undefined) return sessions.get(header)
  const byCookie = sessions.find(getCookie(c, cookieOf(sessions)))
  const named =
    episodeId === undefined || byCookie?.state.episodeId === episodeId ? byCookie : sessions.ofEpisode(episodeId)
  if (named !== undefined) return named
  throw new AgentGymError({
    code: 'session_not_found',
    message: 'This request belongs to no episode that is running.',
    hint: `POST /reset first. Then send the cookie that it set, its ${HEADER} header, or the episode_id that it answered, with every step.`,
  })
}

/** The same for a reset, which opens a session where there is none, and gives a client that counts on its cookie the same again. */
export async function sessionForReset(
  c: Context,
  sessions: OpenEnvSessions,
  episodeId: string | undefined,
): Promise<EpisodeSession> {
  const session = known(c, sessions, episodeId) ?? (await sessions.create())
  setCookie(c, cookieOf(sessions), session.id, { httpOnly: true, sameSite: 'Strict', path: '/' })
  c.header(HEADER, session.id)
  return session
}

function known(c: Context, sessions: OpenEnvSessions, episodeId: string | undefined): EpisodeSession | undefined {
  const header = c.req.header(HEADER)
  if (header !== undefined) return sessions.get(header)
  const byCookie = sessions.find(getCookie(c, cookieOf(sessions)))
  if (episodeId === undefined) return byCookie
  const byName = byCookie?.state.episodeId === episodeId ? byCookie : sessions.ofEpisode(episodeId)
  if (byName !== undefined) return byName
  // A new name: another episode of this client, which may be playing the one before.
  return byCookie?.turn === null ? byCookie : undefined
}
