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

declare module '*.txt' {
  const text: string
  export default text
}
