import type { SampleEpisode, ScenarioView } from '@agentgym/contract'
import { cartFrame } from './cart-frame.ts'
import { episodeSummary, lastMoment } from './episode-moments.ts'
import { gridFrame } from './grid-frame.ts'
import { linesFrame } from './lines-frame.ts'
import { linksFrame } from './links-frame.ts'
import { FRAME_HEIGHT, FRAME_WIDTH } from './scene.ts'
import { picture, type SvgElement } from './svg-element.ts'
import { transcriptFrame } from './transcript-frame.ts'

export type FrameOptions = {
  /** What the picture is of; null where words beside it say so. */
  title?: string | null
}

/**
 * A moment of an episode: what was seen before action `index`, from 0 to the number of actions. `view` fits the episode
 * (`episodeView` gives one that does); null draws lines. The same on the server and in the replay.
 */
export function episodeFrame(
  episode: SampleEpisode,
  view: ScenarioView | null,
  index: number,
  { title = 'A moment of a sample episode' }: FrameOptions = {},
): SvgElement {
  const last = lastMoment(episode)
  const at = Math.min(Math.max(0, Math.trunc(index)), last)
  const description = `Step ${at} of ${last}. ${episodeSummary(episode)}`
  return picture(FRAME_WIDTH, FRAME_HEIGHT, { title, description }, ...scene(episode, view, at))
}

function scene(episode: SampleEpisode, view: ScenarioView | null, index: number): (SvgElement | null)[] {
  switch (view?.kind) {
    case 'cart':
      return cartFrame(episode, view, index)
    case 'links':
      return linksFrame(episode, view, index)
    case 'grid':
      return gridFrame(episode, view, index)
    case 'transcript':
      return transcriptFrame(episode, view, index)
    default:
      return linesFrame(episode, view?.labels ?? [], index)
  }
}
