import type { LearningCurve, SampleEpisode } from '@agentgym/contract'
import { emblem } from './emblem.ts'
import { episodeFrame } from './episode-frame.ts'
import { lastMoment } from './episode-moments.ts'
import { episodeView } from './episode-view.ts'
import { sparkline } from './learning-curve.ts'
import type { SvgElement } from './svg-element.ts'

/**
 * What stands for a version in a list, beside its name: how an agent learned, the end of a sample episode, or an emblem of
 * its hash where there is neither.
 */
export function thumbnail(
  { integrity, learning_curve: curve }: { integrity: string; learning_curve: LearningCurve | null },
  episode: SampleEpisode | null,
): SvgElement {
  if (curve !== null && curve.length > 1) return sparkline(curve, { title: null, thumbnail: true })
  if (episode === null) return emblem(integrity)
  return episodeFrame(episode, episodeView(episode), lastMoment(episode), { title: null })
}
