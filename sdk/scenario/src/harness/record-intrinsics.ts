/** What every built-in looked like before the author's code ran. */
export type IntrinsicsRecord = {
  /** First built-in property that differs now, such as `Array.prototype.map`; empty where none does. */
  altered(): string
}

const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
const { is } = Object
const { toString: symbolToString } = Symbol.prototype
const MAX_DEPTH = 4

type Entry = { owner: object; path: string; keys: PropertyKey[]; descriptors: (PropertyDescriptor | undefined)[] }

/** Walks everything that the global object reaches by own properties and prototypes. */
export function recordIntrinsics(): IntrinsicsRecord {
  const entries: Entry[] = []
  const seen = new Set<object>()
  const visit = (value: unknown, path: string, depth: number): void => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return
    if (seen.has(value) || depth > MAX_DEPTH) return
    seen.add(value)
    const keys = ownKeys(value)
    const descriptors = keys.map((key) => getOwnPropertyDescriptor(value, key))
    entries.push({ owner: value, path, keys, descriptors })
    keys.forEach((key, index) => {
      const descriptor = descriptors[index]
      const inner = path === '' ? nameOf(key) : `${path}.${nameOf(key)}`
      for (const part of [descriptor?.value, descriptor?.get, descriptor?.set]) visit(part, inner, depth + 1)
    })
    visit(getPrototypeOf(value), `${path}.__proto__`, depth + 1)
  }
  visit(globalThis, '', 0)
  const { length } = entries
  return {
    // Index loops only: the author may have replaced the iteration of arrays.
    altered() {
      for (let i = 0; i < length; i += 1) {
        const found = firstAltered(entries[i])
        if (found !== '') return found
      }
      return ''
    },
  }
}

function firstAltered({ owner, path, keys, descriptors }: Entry): string {
  for (let i = 0; i < keys.length; i += 1) {
    const before = descriptors[i]
    const now = getOwnPropertyDescriptor(owner, keys[i])
    const same =
      before !== undefined &&
      now !== undefined &&
      is(before.value, now.value) &&
      is(before.get, now.get) &&
      is(before.set, now.set)
    if (!same) return path === '' ? nameOf(keys[i]) : `${path}.${nameOf(keys[i])}`
  }
  const added = path === '' ? keys.length : ownKeys(owner).length
  return added === keys.length ? '' : path
}

function nameOf(key: PropertyKey): string {
  return typeof key === 'symbol' ? `[${apply(symbolToString, key, [])}]` : `${key}`
}
