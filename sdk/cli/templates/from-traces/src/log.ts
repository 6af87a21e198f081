/** What was logged of the agent, in log.json. */
import logged from './log.json' with { type: 'json' }

export type LoggedTool = {
  name: string
  /** Calls, and the share of them that failed. */
  calls: number
  failures: number
  /** Means a call. */
  tokens: number
  seconds: number
  /** Arguments to choose, by field. */
  choices: { [field: string]: string[] }
  /** Results by the chosen arguments, the most frequent first. */
  results: LoggedResult[]
}
type LoggedResult = { arguments: Arguments; result: string; count: number }
export type Arguments = { [field: string]: string }

/** A call that a request takes. */
export type Need = { tool: string; arguments: Arguments; result: string }
export type LoggedRequest = { request: string; heldOut: boolean; needs: Need[] }

type Log = {
  tools: LoggedTool[]
  answer: { name: string; tokens: number; seconds: number }
  requests: LoggedRequest[]
  /** The logged agent, whose costs are the baseline. */
  logged: { episodes: number; solved: number | null; calls: number; tokens: number; seconds: number }
}

export const log = logged as unknown as Log
