const { construct, defineProperty } = Reflect

/**
 * Replaces `Date`, also as the `constructor` of its instances, by one whose present is `now()` (milliseconds since
 * 1970). Time zones are the process's: jobs run in UTC.
 */
export function replaceDate(now: () => number): void {
  const Native = Date
  const { prototype } = Native
  const dateToString = prototype.toString
  function VirtualDate(...parts: unknown[]): unknown {
    if (new.target === undefined) return Reflect.apply(dateToString, construct(Native, [now()]), [])
    return construct(Native, parts.length === 0 ? [now()] : parts, new.target)
  }
  const methods = { now: () => now(), parse: Native.parse, UTC: Native.UTC }
  for (const [key, value] of [...Object.entries(methods), ['name', 'Date'], ['length', 7]] as const) {
    defineProperty(VirtualDate, key, { value, writable: true, enumerable: false, configurable: true })
  }
  defineProperty(VirtualDate, 'prototype', { value: prototype, writable: false, configurable: false })
  defineProperty(prototype, 'constructor', { value: VirtualDate, writable: true, configurable: true })
  defineProperty(globalThis, 'Date', { value: VirtualDate, writable: true, configurable: true })
}
