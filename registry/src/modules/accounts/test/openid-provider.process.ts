import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import Provider from 'oidc-provider'

/**
 * A real OpenID provider in a separate process, with login and consent pages. The user `NAME` has the address
 * `NAME@example.org`, unverified for names that begin with `unverified-`; a name with an @ is the address itself.
 * Arguments: the callback of its one client. Sends its address to its parent.
 */
const [redirectUri] = process.argv.slice(2)
const server = createServer().listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'gym', client_secret: 'the-secret-of-the-gym', redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    cookies: { keys: ['not a secret'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({
        sub: `user-${id}`,
        email: id.includes('@') ? id : `${id}@example.org`,
        email_verified: !id.startsWith('unverified-'),
        preferred_username: id,
      }),
    }),
    pkce: { required: () => true },
  })
  server.on('request', provider.callback())
  process.send?.(issuer)
})
process.on('disconnect', () => process.exit())
