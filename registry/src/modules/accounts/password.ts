import { hash, verify } from '@node-rs/argon2'
import { rateLimited } from '../../core/access/rate-limit.ts'

/** OWASP's first choice for Argon2id, the library's default variant: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const maxPasswordLength = 200

/** Of a random password that nobody knows: what an unknown user's password is compared with, so that it takes as long. */
const dummyHash = '$argon2id$v=19$m=19456,t=2,p=1$0wiPlofgPCQoV0BTgTPBXA$ravyiAIk9y4mmF9Lq7B7UqQWyvhvJWg/KjxOjK/1Hwg'

/** Each hash takes 19 MiB and a core: this many at once, as many waiting, and the rest is sent away. */
const running = 2
const waitingMost = 64
let free = running
const waiting: (() => void)[] = []

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFKC'), cost))
}

/**
 * Whether this is the password. `null` for an account that is not there or has no password: false, after the same work.
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const possible = stored !== null && password.length <= maxPasswordLength
  const matches = await inTurn(() =>
    verify(possible ? stored : dummyHash, password.slice(0, maxPasswordLength).normalize('NFKC')),
  )
  return possible && matches
}

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (free === 0) {
    if (waiting.length >= waitingMost) throw rateLimited(1)
    // Whoever finishes hands its place on, so `free` stays as it is.
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else free -= 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }
}
