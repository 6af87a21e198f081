/** What the sandbox has besides the language. Compatible with the types of Node and of browsers, where they are present, too. */
interface Console {
  debug(...values: unknown[]): void
  error(...values: unknown[]): void
  info(...values: unknown[]): void
  log(...values: unknown[]): void
  trace(...values: unknown[]): void
  warn(...values: unknown[]): void
}
declare var console: Console

/** Both follow the episode's seed, as `Math.random` does. */
interface Crypto {
  getRandomValues<Numbers extends ArrayBufferView>(array: Numbers): Numbers
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`
}
declare var crypto: Crypto

declare module '*.txt' {
  const text: string
  export default text
}
