import type { LearningCurve, SampleEpisode } from '@agentgym/contract'
import type { ColumnType, JSONColumnType } from 'kysely'

/** Media types allowed for pictures in a README. */
export type PictureType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

type Fixed<Type> = ColumnType<Type, Type, never>

/** An episode of a version's scenario, or of an agent in its scenario, recorded by a worker. */
export type SampleEpisodeTable = {
  version_id: Fixed<string>
  episode: JSONColumnType<SampleEpisode, string, never>
}

/** The learning curve of the run that produced an agent's version. */
export type LearningCurveTable = {
  version_id: Fixed<string>
  points: JSONColumnType<LearningCurve, string, never>
}

/** A picture from the version's tarball that its README shows; its bytes are the object `sha256/HASH`. */
export type ReadmePictureTable = {
  version_id: Fixed<string>
  hash: Fixed<string>
  type: Fixed<PictureType>
}

/** What a version's own changelog says about it. */
export type VersionChangesTable = {
  version_id: Fixed<string>
  markdown: string
  html: string
}

/** A file of a version; `text` is null for binary files, and for what is too large to show. `hash`: SHA-256 (hex). */
export type VersionFileTable = {
  version_id: Fixed<string>
  path: Fixed<string>
  size: Fixed<number>
  hash: Fixed<string>
  text: Fixed<string | null>
}

export type PicturesSchema = {
  version_files: VersionFileTable
  readme_pictures: ReadmePictureTable
  version_changes: VersionChangesTable
  sample_episodes: SampleEpisodeTable
  learning_curves: LearningCurveTable
}
