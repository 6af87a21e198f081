import { describeThrown } from './describe-value.ts'
import { EngineFault, HostMistake, Problem } from './engine-fault.ts'
import { BOARD_ENVIRONMENT, BOARD_EPISODE, BOARD_PHASE, BOARD_STEP, phases } from './environment-buffers.ts'
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

/** The fault for something that was thrown while `slot` was played: by the engine, or else by the author. */
export function faultOf(thrown: unknown, board: Int32Array, slot: EpisodeSlot): unknown {
  if (HostMistake.is(thrown)) return thrown
  const phase = phases[board[BOARD_PHASE]]
  const place = { phase, environment: slot.number, step: slot.step, episode: slot.episode }
  if (Problem.is(thrown)) return new EngineFault(thrown.code, thrown.message, thrown.hint, place)
  const { message, stack } = describeThrown(thrown)
  return new EngineFault('scenario_threw', `${phase} threw: ${message}`, '', place, stack)
}
