export { type Drawn, displayList, type PictureStyles, readPictureStyles } from './display-list.ts'
export {
  actionName,
  choiceName,
  describeStep,
  type Episode,
  episodeSummary,
  episodeView,
  lastStep,
  returnAt,
  seenAt,
  type ViewOf,
} from './episode.ts'
export { episodeFrame, linesOf, valueText } from './episode-frame.ts'
export { type DrawnChannel, exploredMap, type GridCell, ownMarks } from './grid-frame.ts'
export { FRAME_HEIGHT, FRAME_WIDTH, hundredths, picture, points, type SvgElement, svg, svgMarkup } from './svg.ts'
export { signed, transcriptCalls, transcriptTexts, wrapText } from './transcript-frame.ts'
