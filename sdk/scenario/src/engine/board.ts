import { BOARD_ENVIRONMENT, BOARD_EPISODE, BOARD_PHASE, BOARD_STEP, type Phase, phases } from './environment-buffers.ts'
import type { EpisodeSlot } from './episode-slot.ts'

/** Indices into `phases`. */
export const PHASE_IDLE = 0
export const PHASE_RESET = 3
export const PHASE_STEP = 4
export const PHASE_OBSERVE = 5
export const PHASE_ACTION_MASK = 6
export const PHASE_METRICS = 7

/** Notes what is about to run, before it runs: a hang can then be named by whoever sees the board. */
export function noteOnBoard(board: Int32Array, phase: number, slot: EpisodeSlot): void {
  board[BOARD_ENVIRONMENT] = slot.number
  board[BOARD_STEP] = slot.step
  board[BOARD_EPISODE] = slot.episode
  board[BOARD_PHASE] = phase
}

export function phaseOnBoard(board: Int32Array): Phase {
  return phases[board[BOARD_PHASE]]
}
