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
  const stranger = createClient({ server })
  const password = 'correct horse battery staple'
  await stranger.send('/v1/accounts', json({ username, email: `${username}@example.com`, password }))
  const session = await stranger.send('/v1/sessions', json({ username, password }))
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const made = await stranger.send('/v1/tokens', json({ name: 'test', scopes }, { cookie }))
  const { token } = (await made.json()) as { token: string }
  return { client: createClient({ server, token }), token }
}

function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}
