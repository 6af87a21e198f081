import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const nonceBytes = 12
const tagBytes = 16

/** Purpose of the sealed text: each has its own key, and a text opens only with the ID it was sealed for. */
export type Seal = {
  /** The installation's. */
  secret: Uint8Array
  purpose: 'signing key' | 'sign-on client' | 'season' | 'second factor' | 'webhook'
  id: string
}

/** AES-256-GCM under the installation's secret: nonce, tag and ciphertext in base64. */
export function seal({ secret, purpose, id }: Seal, plain: Uint8Array): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, purpose), nonce).setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
}

/** Undefined if it was sealed with another secret, for another purpose or ID, or has been altered. */
export function unseal({ secret, purpose, id }: Seal, text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  const nonce = bytes.subarray(0, nonceBytes)
  const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(secret, purpose), nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(id)).setAuthTag(tag)
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}

function keyOf(secret: Uint8Array, purpose: Seal['purpose']): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, 'agentgym', purpose, 32))
}
