import { createPublicKey, verify } from 'node:crypto'
import { AgentGymError, type SigningKeys, type Verification, type VerificationStatement } from '@agentgym/contract'
import { parseStatement } from './verification-lines.ts'

/**
 * The statement that a server signed about an agent, believed only where one of the server's keys signed these very bytes.
 * Throws `signature_invalid`.
 */
export function checkSignature(signed: NonNullable<Verification['signed']>, keys: SigningKeys): VerificationStatement {
  const key = keys.keys.find(({ id }) => id === signed.key_id)
  if (key === undefined)
    throw invalid(`it names the key ${JSON.stringify(signed.key_id.slice(0, 80))}, which the server has not`)
  const bytes = Buffer.from(signed.statement, 'utf8')
  if (!isSignedBy(key.public_key, bytes, Buffer.from(signed.signature, 'base64')))
    throw invalid(`the key ${key.id} did not sign this text`)
  const statement = parseStatement(signed.statement)
  if (statement === undefined)
    throw invalid('the signed text is no statement that this version of agentgym understands')
  if (statement.key_id !== key.id) throw invalid('the signed text names another key')
  return statement
}

function isSignedBy(publicKey: string, bytes: Buffer, signature: Buffer): boolean {
  try {
    const key = createPublicKey(publicKey)
    // Of another kind of key, `verify` would take another algorithm's signature.
    return key.asymmetricKeyType === 'ed25519' && verify(null, bytes, key, signature)
  } catch {
    return false
  }
}

function invalid(why: string): AgentGymError {
  return new AgentGymError({
    code: 'signature_invalid',
    message: `the signature does not hold: ${why}`,
    hint: 'Do not trust the result; tell the operator of the server.',
  })
}
