import {
  BOARD_CLOCK,
  BOARD_ENVIRONMENT,
  BOARD_EPISODE,
  BOARD_PHASE,
  BOARD_STEP,
  type Phase,
  phases,
} from '@agentgym/scenario/engine'

/**
 * The host's own columns of the board, beside the engine's. The engine goes back to `idle` before a crossing ends, yet
 * isolated-vm may still hang after that (it copies an unhandled rejection's value outside its timeout): only the host
 * knows that a crossing is under way.
 */
/** Phase (index into `phases`) of the crossing under way; 0 between crossings. */
export const BOARD_CROSSING = 5
/** Counts crossings: two of them never look alike to a watcher. */
export const BOARD_CROSSINGS = 6

/** Where a scenario was: everything a message needs to name it. */
export type Place = {
  phase: Phase
  /** Number of the environment in the whole run. */
  environment?: number
  /** Step within the episode, counted from 1; 0 in reset. */
  step?: number
  episode?: number
}

const phasesOfOneEnvironment: readonly Phase[] = [
  'reset',
  'step',
  'observe',
  'actionMask',
  'metrics',
  'oracle',
  'render',
  'rules',
]

/** Reads where the guest is, or was last. Also takes a copy of a board, as heartbeats carry it. */
export function readPlace(board: ArrayLike<number>): Place {
  const noted = phases[board[BOARD_PHASE]] ?? 'harness'
  const crossing = phases[board[BOARD_CROSSING]] ?? 'harness'
  const phase = noted === 'idle' || noted === 'harness' ? crossing : noted
  if (!phasesOfOneEnvironment.includes(noted)) return { phase }
  return {
    phase,
    environment: board[BOARD_ENVIRONMENT],
    step: board[BOARD_STEP],
    episode: board[BOARD_EPISODE],
  }
}

/** The place that the engine's columns of a board say, by the index of its phase. */
export function placeOf(phaseIndex: number, columns: Required<Omit<Place, 'phase'>>): Place {
  const phase = phases[phaseIndex] ?? 'harness'
  return phasesOfOneEnvironment.includes(phase) ? { phase, ...columns } : { phase }
}

/** Whether guest code may be running. */
export function isCrossing(board: ArrayLike<number>): boolean {
  return board[BOARD_CROSSING] !== 0
}

/** Equal for two readings between which nothing moved. */
export function progressKey(board: ArrayLike<number>): string {
  const columns = [BOARD_CROSSINGS, BOARD_CLOCK, BOARD_PHASE, BOARD_ENVIRONMENT, BOARD_EPISODE, BOARD_STEP]
  return columns.map((column) => board[column]).join(' ')
}
