/** What the page asks of the guest's worker. Each is answered by one text. */
export type GuestRequest =
  /** Loads the bundle, and starts an engine of one environment. Answered by the description. */
  | { do: 'load'; source: string; seed: number }
  /** Begins that held-out episode, whatever was played before. */
  | { do: 'begin'; episode: number }
  /** Plays one row of an action. */
  | { do: 'step'; action: number[] }
  /** Answered by `{}`: the worker does not hang. */
  | { do: 'beat' }
