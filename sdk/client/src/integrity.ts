import { AgentGymError } from '@agentgym/contract'

/** Subresource integrity as npm's lockfiles hold it: `sha512-` and the digest in base64. */
export async function integrityOf(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-512', bytes as Uint8Array<ArrayBuffer>))
  let binary = ''
  for (const byte of digest) binary += String.fromCharCode(byte)
  return `sha512-${btoa(binary)}`
}

/** Throws `integrity_mismatch` unless `bytes` are those that `expected` stands for. `what` names them in the message. */
export async function verifyIntegrity(bytes: Uint8Array, expected: string, what: string): Promise<void> {
  const actual = await integrityOf(bytes)
  if (actual === expected) return
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: `The tarball of ${what} is not what the registry recorded: ${actual} instead of ${expected}.`,
    hint: 'Download it again; if it differs again, tell the operator of the server.',
    data: { expected, actual },
  })
}
