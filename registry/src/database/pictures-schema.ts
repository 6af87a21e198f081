import type { LearningCurve, SampleEpisode } from '@agentgym/contract'
import type { ColumnType, JSONColumnType } from 'kysely'

type Fixed<Type> = ColumnType<Type, Type, never>

/** An episode of a version's scenario, or of an agent in its scenario, as a worker wrote it down. */
export type SampleEpisodeTable = {
  version_id: Fixed<string>
  episode: JSONColumnType<SampleEpisode, string, never>
}

/** How the run went that an agent's version came out of. */
export type LearningCurveTable = {
  version_id: Fixed<string>
  points: JSONColumnType<LearningCurve, string, never>
}

export type PicturesSchema = {
  sample_episodes: SampleEpisodeTable
  learning_curves: LearningCurveTable
}
