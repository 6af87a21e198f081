import type { SuccessCriteria } from '@agentgym/contract'
import type { Played } from '../checks/whole-episodes.ts'
import type { ScenarioDescription } from '../vector-environment.ts'
import type { ColumnRule } from './seen-columns.ts'
import type { SharedTokens } from './seen-words.ts'

/** Rewards of the random player, step by step. */
export type RewardRange = { steps: number; lowest: number; highest: number; distinct: number; usualShare: number }

/** First observations of episodes of both splits. */
export type Starts = {
  train: number
  eval: number
  distinctTrain: number
  distinctEval: number
  /** Evaluation episodes that begin like one of the training episodes, and the first of them. */
  shared: number
  firstShared: { train: number; eval: number } | null
}

/** Everything that was seen; `findingsOf` judges it. */
export type Examination = {
  description: ScenarioDescription
  success: SuccessCriteria
  seed: number
  players: { name: string; kind: 'random' | 'constant' | 'greedy' | 'oracle' | 'column'; played: Played }[]
  rewards: RewardRange | null
  constant: number[]
  observations: number
  rules: ColumnRule[]
  /** Of the first decisions alone. */
  firstRules: ColumnRule[]
  starts: Starts | null
  /** Of each text whose words share some. */
  sharedTokens: SharedTokens[]
}
