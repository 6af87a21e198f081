import { AgentGymError } from '@agentgym/contract'
import { VECTOR_PATH } from '@agentgym/contract/protocols'

/** An environment as a user names it. */
export type EnvironmentTarget =
  /** An environment of Gymnasium by its id, or by a function `module:function`: a Python process is started for it. */
  | { kind: 'gymnasium' | 'python'; id: string }
  /** An OpenEnv server. */
  | { kind: 'openenv'; url: string }
  /** A server of the vector protocol; `scenario` where it has several. */
  | { kind: 'vector'; url: string; scenario?: string }

/**
 * Reads `gymnasium:LunarLander-v3`, `python:my_envs:make_warehouse`, `openenv:http://host:8000` or the address of a server
 * of the vector protocol, `http://host:8000#acme/cart-pole` where it has several scenarios. Throws `usage_invalid`.
 */
export function parseEnvironmentTarget(text: string): EnvironmentTarget {
  const [, kind, rest = ''] = /^(gymnasium|python|openenv):(.*)$/s.exec(text) ?? []
  if (kind === 'gymnasium' || kind === 'python') {
    if (/^[\w:./-]{1,200}$/.test(rest)) return { kind, id: rest }
    const example = kind === 'python' ? 'python:my_envs:make_warehouse' : 'gymnasium:CartPole-v1'
    throw invalid(text, 'names no environment', `Name it, such as ${example}.`)
  }
  const url = addressOf(kind === 'openenv' ? rest : text)
  if (url === null) {
    const hint =
      'Use gymnasium:ID, python:MODULE:FUNCTION, openenv:http://HOST:PORT, or the http:// or ws:// address of a server of the vector protocol.'
    throw invalid(text, 'is no environment', hint)
  }
  const scenario = decodeURIComponent(url.hash.slice(1))
  url.hash = ''
  if (kind === 'openenv') {
    return { kind, url: url.href.replace(/\/(ws)?$/, '') }
  }
  if (url.pathname === '/') url.pathname = VECTOR_PATH
  return { kind: 'vector', url: url.href, ...(scenario === '' ? {} : { scenario }) }
}

/** The address with a WebSocket's scheme; null where it is none. */
function addressOf(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:', 'ws:', 'wss:'].includes(url.protocol)) return null
  // Setting `protocol` is refused between special and other schemes, and these are all special.
  url.protocol = url.protocol.replace('http', 'ws')
  return url
}

function invalid(text: string, what: string, hint: string): AgentGymError {
  const shown = text.slice(0, 200)
  return new AgentGymError({
    code: 'usage_invalid',
    message: `--env ${JSON.stringify(shown)} ${what}`,
    hint,
    data: { field: 'env', value: shown },
  })
}
