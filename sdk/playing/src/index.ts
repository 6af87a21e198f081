export {
  type ActionControl,
  actionColumns,
  actionControls,
  choiceKeys,
  choiceOfArrow,
  idleChoice,
  type Question,
  questionsOf,
} from './action-questions.ts'
export { EpisodeReader, numberColumns, type ReadEnvironment, roundNumber } from './episode-reader.ts'
export { RandomActions } from './random-actions.ts'
export { scenarioDescriptionSchema } from './scenario-description.ts'
export { readScene, SceneTable } from './scene-table.ts'
export { printable, readAllTexts, readWatchedTexts, type WatchedTexts } from './watched-texts.ts'
