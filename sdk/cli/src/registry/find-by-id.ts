import { AgentGymError, type ErrorCode } from '@agentgym/contract'

const whole = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const beginning = /^[0-9a-f][0-9a-f-]{3,35}$/
/** Pages of the newest to search; older ones need the full ID. */
const pagesLooked = 20
const shownIds = 5

export type Findable<One> = {
  /** `run`, `delivery`. */
  noun: string
  /** What shows their ids: `agentgym runs list`. */
  listCommand: string
  missing: ErrorCode
  read(id: string): Promise<One>
  /** The user's own, newest first, a page at a time. */
  page(cursor: string | undefined): Promise<{ found: One[]; next: string | null }>
}

/** The first eight characters of an ID, which every command accepts. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

/** Whether a word may be an id or the beginning of one. */
export function looksLikeId(text: string): boolean {
  return beginning.test(text.toLowerCase())
}

/**
 * Finds by ID, or by its first four or more characters if they are unambiguous among the user's own. Throws the `missing`
 * code, and `usage_invalid` for an invalid or ambiguous ID.
 */
export async function findById<One extends { id: string }>(text: string, kind: Findable<One>): Promise<One> {
  const { noun, listCommand, missing } = kind
  const id = text.trim().toLowerCase()
  if (whole.test(id)) return kind.read(id)
  if (!beginning.test(id)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${JSON.stringify(text.slice(0, 100))} is not ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun} ID`,
      hint: `Use at least the first 4 characters of the ID, as shown by ${listCommand}.`,
    })
  }
  const found = await thoseBeginning(id, kind)
  if (found.length === 1) return found[0]
  if (found.length === 0) {
    throw new AgentGymError({
      code: missing,
      message: `no ${noun} of yours starts with ${id}`,
      hint: `List your ${plural(noun)} with ${listCommand}. For one of another account, use the full ID.`,
      data: { id },
    })
  }
  const ids = found.slice(0, shownIds).map((one) => one.id)
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${found.length} of your ${plural(noun)} start with ${id}: ${ids.join(', ')}${found.length > ids.length ? ', …' : ''}`,
    hint: `Use more characters, such as ${ids[0].slice(0, id.length + 4)}.`,
    data: { id, [`${plural(noun)}`]: found.map((one) => one.id) },
  })
}

async function thoseBeginning<One extends { id: string }>(id: string, { page }: Findable<One>): Promise<One[]> {
  const all: One[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < pagesLooked; pages++) {
    const { found, next } = await page(cursor)
    all.push(...found.filter((one) => one.id.startsWith(id)))
    if (next === null) break
    cursor = next
  }
  return all
}

function plural(noun: string): string {
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}
