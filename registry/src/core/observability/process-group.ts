import type { GroupFigures } from './process-figures.ts'

/** Processes of one machine that serve one port together, as one of them sees it. Whoever starts them provides it. */
export type ProcessGroup = {
  /** Which one this is, from 1 on: lines of the log say so. */
  process: number
  /**
   * The port that others of the group serve already. This process takes connections there only once it can answer:
   * none waits for its start, or is lost where it fails. Null for the first one, which may find a free port.
   */
  servedPort: number | null
  /** What all processes of the group count, this one among them. */
  figures(): Promise<GroupFigures>
}
