import { createHash } from 'node:crypto'

/** SHA-256 as lower-case hex: how bundles, models and checkpoints are named. */
export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}
