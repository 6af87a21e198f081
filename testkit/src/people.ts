import { type Client, createClient } from '@agentgym/client'

const usualScopes = [
  'packages:manage',
  'training:start',
  'training:view',
  'training:cancel',
  'training:evaluate',
  'data:export',
]

/** A new account on a server, wherever it runs: its client, and a token with these scopes. */
export async function signUpAt(
  server: string,
  username: string,
  scopes: string[] = usualScopes,
): Promise<{ client: Client; token: string }> {
  await createClient({ server }).send('/v1/accounts', json({ username, email: `${username}@example.com`, password }))
  const token = await createToken(server, await logIn(server, username), scopes)
  return { client: createClient({ server, token }), token }
}

/** Makes that account the operator, as the set-up secret lets anyone do once. Resolves to a token for a worker. */
export async function claimAt(server: string, username: string, setupSecret: string): Promise<string> {
  const cookie = await logIn(server, username)
  const claim = { ...json({ setup_secret: setupSecret }, { cookie }), method: 'PUT' }
  await createClient({ server }).send('/v1/account/operator', claim)
  return createToken(server, cookie, ['worker'])
}

const password = 'correct horse battery staple'

/** Resolves to the session's cookie. */
async function logIn(server: string, username: string): Promise<string> {
  const session = await createClient({ server }).send('/v1/sessions', json({ username, password }))
  return session.headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function createToken(server: string, cookie: string, scopes: string[]): Promise<string> {
  const made = await createClient({ server }).send('/v1/tokens', json({ name: 'test', scopes }, { cookie }))
  return ((await made.json()) as { token: string }).token
}

function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
