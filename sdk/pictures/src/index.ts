export { type Drawn, displayList, type PictureStyles, readPictureStyles } from './display-list.ts'
export type { Span, SpanRow } from './dot-canvas.ts'
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
export { episodeFrame } from './episode-frame.ts'
export { Playback, paceMs } from './playback.ts'
export { rewardLine } from './reward-line.ts'
export { FRAME_HEIGHT, FRAME_WIDTH, picture, points, type SvgElement, svg, svgMarkup } from './svg.ts'
export { svgNamespace, svgNode } from './svg-node.ts'
export { type TerminalSize, terminalFrame } from './terminal-frame.ts'
export { transcriptCalls, transcriptTexts } from './transcript-frame.ts'
