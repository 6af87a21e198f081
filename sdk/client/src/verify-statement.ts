import {
  AgentGymError,
  type SigningKeys,
  type Verification,
  type VerificationStatement,
  verificationStatementSchema,
} from '@agentgym/contract'

/** Allowed clock difference between replicas of a server. */
const clockSkewMs = 5 * 60_000

type SignedStatement = NonNullable<Verification['signed']>

/**
 * Verifies that one of the server's keys (`GET /v1/keys`) signed these bytes before it was retired, and returns the
 * statement. Uses Web Cryptography, so it runs in browsers too. The caller must compare name, version and integrity with
 * the agent. Throws `signature_invalid`.
 */
export async function verifyStatement(signed: SignedStatement, { keys }: SigningKeys): Promise<VerificationStatement> {
  const key = keys.find(({ id }) => id === signed.key_id)
  if (key === undefined)
    throw invalid(`it names the key ${JSON.stringify(signed.key_id.slice(0, 80))}, which is not given`)
  const bytes = new TextEncoder().encode(signed.statement)
  if (!(await isSignedBy(key.public_key, bytes, signed.signature)))
    throw invalid(`the key ${key.id} did not sign this text`)
  const statement = parseStatement(signed.statement)
  if (statement === undefined) throw invalid('the signed text is not a statement that this version understands')
  if (statement.key_id !== key.id) throw invalid('the signed text names another key')
  if (key.retired_at !== null && Date.parse(statement.verified_at) > Date.parse(key.retired_at) + clockSkewMs)
    throw invalid(`the key ${key.id} was retired before the text was signed`)
  return statement
}

async function isSignedBy(pem: string, bytes: Uint8Array<ArrayBuffer>, signature: string): Promise<boolean> {
  try {
    const body = pem.match(/-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/)?.[1] ?? ''
    const key = await crypto.subtle.importKey('spki', decodeBase64(body), 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', key, decodeBase64(signature), bytes)
  } catch {
    return false
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replace(/\s/g, '')), (character) => character.charCodeAt(0))
}

function parseStatement(text: string): VerificationStatement | undefined {
  try {
    return verificationStatementSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function invalid(why: string): AgentGymError {
  return new AgentGymError({
    code: 'signature_invalid',
    message: `The signature is invalid: ${why}.`,
    hint: 'Do not trust the result. Report it to the operator of the server.',
  })
}
