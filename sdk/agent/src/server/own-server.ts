import { createHash, timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { AgentGymError } from '@agentgym/contract'

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host) || (isIPv6(host) && host === '0:0:0:0:0:0:0:1')
}

/** Why a server cannot listen at an address, as `config_invalid`. */
export function addressUnusable(host: string, port: number, cause: NodeJS.ErrnoException): AgentGymError {
  const inUse = cause.code === 'EADDRINUSE'
  return new AgentGymError(
    {
      code: 'config_invalid',
      message: `${host}:${port} cannot be used: ${inUse ? 'another program listens there' : cause.message}`,
      hint: 'Choose another one: --port N, or --port 0 for any that is free.',
      data: { field: 'port' },
    },
    { cause },
  )
}

/**
 * Holds the header `Authorization` to a server's key. Compares hashes, so that the time says nothing of the key. Throws
 * `unauthenticated` with `hint`.
 */
export function checkKey(header: string | undefined, key: string, hint: string): void {
  const sent = /^Bearer (.+)$/i.exec(header ?? '')?.[1] ?? ''
  const hash = (text: string) => createHash('sha256').update(text).digest()
  if (timingSafeEqual(hash(sent), hash(key))) return
  throw new AgentGymError({ code: 'unauthenticated', message: 'This server needs a key.', hint })
}
