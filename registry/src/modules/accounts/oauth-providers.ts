import { decodeIdToken, GitHub, Google } from 'arctic'
import { z } from 'zod'
import type { ServerConfig } from '../../core/services.ts'
import type { ProviderName } from './oauth-identities.store.ts'

/** Who somebody is to another provider. */
export type Identity = {
  /** The provider's own id: names and addresses there change hands. */
  subject: string
  /** What a username may be made of. */
  login: string
  /** Only where the provider has verified it. */
  email: string | null
}

export type OauthProvider = {
  authorisationUrl(request: { state: string; codeVerifier: string }): URL
  /** Turns a code into who it stands for; fails where the provider does not know it. */
  identify(code: string, codeVerifier: string): Promise<Identity>
}

export type Providers = Partial<Record<ProviderName, OauthProvider>>

/** Those that the configuration has a client for. */
export function oauthProviders(config: ServerConfig): Providers {
  const { github, google } = config.oauth
  const callback = (name: ProviderName) => `${config.publicUrl}/v1/oauth/${name}/callback`
  return {
    ...(github && { github: gitHub(new GitHub(github.clientId, github.clientSecret, callback('github'))) }),
    ...(google && { google: googleAccounts(new Google(google.clientId, google.clientSecret, callback('google'))) }),
  }
}

const gitHubUser = z.object({ id: z.int(), login: z.string() })
const gitHubEmails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

function gitHub(client: GitHub): OauthProvider {
  return {
    // GitHub's own `state` is all the protection that this client offers; it has no PKCE.
    authorisationUrl: ({ state }) => client.createAuthorizationURL(state, ['user:email']),
    identify: async (code) => {
      const tokens = await client.validateAuthorizationCode(code)
      const user = gitHubUser.parse(await readGitHub('/user', tokens.accessToken()))
      const emails = gitHubEmails.parse(await readGitHub('/user/emails', tokens.accessToken()))
      const primary = emails.find((email) => email.primary && email.verified)
      return { subject: String(user.id), login: user.login, email: primary?.email ?? null }
    },
  }
}

async function readGitHub(path: string, accessToken: string): Promise<unknown> {
  const response = await fetch(`https://api.github.com${path}`, {
    headers: {
      authorization: `Bearer ${accessToken}`,
      accept: 'application/vnd.github+json',
      'user-agent': 'AgentGym',
    },
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`api.github.com${path} answered ${response.status}`)
  return response.json()
}

const googleClaims = z.object({ sub: z.string(), email: z.string().optional(), email_verified: z.boolean().optional() })

function googleAccounts(client: Google): OauthProvider {
  return {
    authorisationUrl: ({ state, codeVerifier }) =>
      client.createAuthorizationURL(state, codeVerifier, ['openid', 'email']),
    identify: async (code, codeVerifier) => {
      const tokens = await client.validateAuthorizationCode(code, codeVerifier)
      // Straight from Google over TLS, so its signature adds nothing (OpenID Connect Core, 3.1.3.7).
      const claims = googleClaims.parse(decodeIdToken(tokens.idToken()))
      const email = claims.email_verified === true ? (claims.email ?? null) : null
      return { subject: claims.sub, login: email?.split('@')[0] ?? '', email }
    },
  }
}
