import { AgentGymError } from '@agentgym/contract'
import * as openid from 'openid-client'
import type { ServerConfig } from '../../core/services.ts'

/** A user's identity at their organization's provider. */
export type OpenIdUser = {
  /** The provider's own ID, because names and addresses can be reassigned. */
  subject: string
  email: string | null
  /** The basis for a username. */
  login: string
}

/** Values that the browser must return from the provider. */
export type OpenIdRequest = { state: string; nonce: string; codeVerifier: string }

type Client = { issuer: string; clientId: string; clientSecret: string }

const timeoutSeconds = 10

export function makeRequest(): OpenIdRequest {
  return { state: openid.randomState(), nonce: openid.randomNonce(), codeVerifier: openid.randomPKCECodeVerifier() }
}

/**
 * Reads the provider's discovery document. Only issuers that the operator allows are called, because an organization's
 * owner must not make this server call its internal network. Throws `config_invalid`, `oauth_failed`.
 */
export async function discover(
  config: Pick<ServerConfig, 'signOnIssuers'>,
  client: Client,
): Promise<openid.Configuration> {
  const address = URL.parse(client.issuer)
  if (address === null || !isAllowed(address, config.signOnIssuers)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `This server does not allow sign-on through ${client.issuer}.`,
      hint: `The operator adds its host to AGENTGYM_SIGN_ON_ISSUERS (now: ${config.signOnIssuers.join(', ')}). Issuers use https.`,
      data: { field: 'issuer' },
    })
  }
  const insecure = address.protocol === 'http:' ? [openid.allowInsecureRequests] : []
  try {
    return await openid.discovery(address, client.clientId, client.clientSecret, undefined, {
      timeout: timeoutSeconds,
      // Also verify the signature of ID tokens, although they come directly from the provider.
      execute: [openid.enableNonRepudiationChecks, ...insecure],
    })
  } catch (error) {
    throw failed(`${client.issuer} did not answer as an OpenID provider: ${reasonOf(error)}.`)
  }
}

/** `https` on an allowed host (`*.example.com` for any below); plain `http` only if a pattern allows it, for tests. */
function isAllowed(address: URL, patterns: string[]): boolean {
  if (address.username !== '' || address.password !== '') return false
  return patterns.some((pattern) => {
    const host = pattern.replace(/^http:\/\//, '')
    if (address.protocol !== (pattern.startsWith('http://') ? 'http:' : 'https:')) return false
    return host.startsWith('*.') ? address.host.endsWith(host.slice(1)) : address.host === host
  })
}

/** The URL to redirect the browser to. */
export function authorizationUrl(
  configuration: openid.Configuration,
  redirectUri: string,
  { state, nonce, codeVerifier }: OpenIdRequest,
  email: string | undefined,
): Promise<URL> {
  return openid.calculatePKCECodeChallenge(codeVerifier).then((challenge) =>
    openid.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
      ...(email === undefined ? {} : { login_hint: email }),
    }),
  )
}

/** The user who returns to `callback`, the full URL. Throws `oauth_failed`. */
export async function identify(
  configuration: openid.Configuration,
  callback: URL,
  { state, nonce, codeVerifier }: OpenIdRequest,
): Promise<OpenIdUser> {
  try {
    const tokens = await openid.authorizationCodeGrant(configuration, callback, {
      ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier },
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (claims === undefined) throw new Error('no ID token')
    // Some providers return the address only in the user info.
    const {
      email,
      email_verified: verified,
      preferred_username: name,
    } = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
      ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : claims
    const address = typeof email === 'string' && verified !== false ? email.toLowerCase() : null
    const login = typeof name === 'string' ? name : (address ?? '')
    return { subject: claims.sub, email: address, login: login.split('@')[0] }
  } catch (error) {
    throw failed(`The provider did not confirm the login: ${reasonOf(error)}.`)
  }
}

function failed(message: string): AgentGymError {
  return new AgentGymError({ code: 'oauth_failed', message, hint: 'Start the login again.' })
}

/** The provider's error text, which is untrusted: truncated, on one line. */
function reasonOf(error: unknown): string {
  const {
    message = 'unknown',
    error: code,
    error_description: description,
  } = error as Record<string, string | undefined>
  return String(description ?? code ?? message)
    .replace(/\s+/g, ' ')
    .slice(0, 200)
}
