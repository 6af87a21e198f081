import type { AskedAgent, Offer, TokenUsage } from '@agentgym/contract/protocols'

/** What a language model said, whole or streamed. */
export type Heard = { calls: { name: string; arguments: string }[]; usage: TokenUsage }

/** What is put into a language model's answer before a client gets it. */
export type Signature = { model: string; also: TokenUsage }

/** Reads a stream, one event after another. */
export type Listener = {
  /** The event as the client gets it; null for one that the client has not asked for. */
  pass(event: Record<string, unknown>): Record<string, unknown> | null
  heard(): Heard
  /** Whether the answer has come to its end. */
  isComplete(): boolean
}

/** One of the APIs that both clients and language models speak: how its conversations are read, and its answers passed on. */
export type Dialect<Request> = {
  /** In metrics. */
  name: string
  /** Behind the address of the language model's server. */
  path: string
  offerOf(request: Request): Offer
  /** Tools that were called since the user's last message, in order. */
  callsOf(request: Request): string[]
  /** The JSON schema of a tool's parameters. */
  parametersOf(request: Request, tool: string): unknown
  /** The text that holds the observation. */
  textOf(request: Request): string
  observationOf(request: Request, spaces: AskedAgent): unknown
  /** What an agent with memory observed before in the conversation. */
  historyOf(request: Request, spaces: AskedAgent): unknown[]
  /** The request as the language model gets it: with its own name, and only the tools named. One tool must be called. */
  forModel(request: Request, model: string, tools: readonly string[] | 'all' | 'none'): Record<string, unknown>
  hear(answer: unknown): Heard
  /** The answer as the client gets it. */
  sign(answer: unknown, signature: Signature): object
  listener(request: Request, signature: Signature): Listener
  /** An event as bytes of the stream. */
  write(event: Record<string, unknown>): string
  /** What a stream ends with. */
  ending: string
  /** How a stream says that it failed. */
  failure(report: { message: string; code: string }): Record<string, unknown>
}
