import { AgentGymError, type ErrorCode } from '@agentgym/contract'

const whole = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const beginning = /^[0-9a-f][0-9a-f-]{3,35}$/
/** Of the user's newest; older ones have to be named in full. */
const pagesLooked = 20
const shownIds = 5

export type Findable<One> = {
  /** `run`; its plural takes an s. */
  noun: string
  /** What shows their ids: `agentgym runs list`. */
  listCommand: string
  missing: ErrorCode
  read(id: string): Promise<One>
  /** The user's own, newest first, a page at a time. */
  page(cursor: string | undefined): Promise<{ found: One[]; next: string | null }>
}

/** An id as people type it: its first eight characters, which every command takes. */
export function shortId(id: string): string {
  return id.slice(0, 8)
}

/** Whether a word may be an id or the beginning of one. */
export function looksLikeId(text: string): boolean {
  return beginning.test(text.toLowerCase())
}

/**
 * What a user named by its id, or by the first four or more characters of it where only one of their own begins so.
 * Throws the code of what is missing, and `usage_invalid` for what is no id or begins several.
 */
export async function findById<One extends { id: string }>(text: string, kind: Findable<One>): Promise<One> {
  const { noun, listCommand, missing } = kind
  const id = text.trim().toLowerCase()
  if (whole.test(id)) return kind.read(id)
  if (!beginning.test(id)) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${JSON.stringify(text.slice(0, 100))} is not the id of ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`,
      hint: `Give at least the first 4 characters of its id; ${listCommand} shows them.`,
    })
  }
  const found = await thoseBeginning(id, kind)
  if (found.length === 1) return found[0]
  if (found.length === 0) {
    throw new AgentGymError({
      code: missing,
      message: `none of your ${noun}s begins with ${id}`,
      hint: `${listCommand} shows your ${noun}s. One of somebody else has to be named by its whole id.`,
      data: { id },
    })
  }
  const ids = found.slice(0, shownIds).map((one) => one.id)
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${found.length} of your ${noun}s begin with ${id}: ${ids.join(', ')}${found.length > ids.length ? ', …' : ''}`,
    hint: `Give more of it, such as ${ids[0].slice(0, id.length + 4)}.`,
    data: { id, [`${noun}s`]: found.map((one) => one.id) },
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
