export { expectGolden } from './golden.ts'
export {
  type EpisodeOptions,
  type PlainSampleOf,
  type PlayedAction,
  type Player,
  playEpisode,
  type Trajectory,
} from './play-episode.ts'
