import type { SampleEpisode } from '@agentgym/contract'
import { Icon } from '../components/icon.tsx'
import { useIsland } from '../layout/page-context.ts'
import { Drawn } from './drawn.tsx'
import { episodeFrame } from './episode-frame.ts'
import { episodeSummary, lastMoment } from './episode-moments.ts'
import { episodeView } from './episode-view.ts'
import { momentWords } from './moment-words.ts'
import { TranscriptLog } from './transcript-log.tsx'

type ReplayProps = {
  episode: SampleEpisode
  /** `@acme/maze` and `1.0.0`: the island asks the API for the episode again, once somebody plays it. */
  name: string
  version: string
}

/** A sample episode, at its end; with JavaScript it can be played. A transcript is there as text as well. */
export function Replay({ episode, name, version }: ReplayProps) {
  useIsland('replay')
  const view = episodeView(episode)
  const last = lastMoment(episode)
  const title = `Sample episode of ${name}`
  const address = `/v1/packages/${name}/versions/${encodeURIComponent(version)}/sample-episode`
  return (
    <figure class="replay" data-replay={address} data-view={JSON.stringify(view)} data-title={title}>
      {/* Reading it is enough where it is a transcript; the picture would say the same once more. */}
      {view?.kind === 'transcript' ? (
        <TranscriptLog episode={episode} view={view} />
      ) : (
        <div class="replay-stage">
          <Drawn picture={episodeFrame(episode, view, last, { title })} />
        </div>
      )}
      <div class="replay-controls" hidden>
        <button class="replay-button" type="button" data-replay-do="back" aria-label="Step back">
          <Icon name="chevron-right" />
        </button>
        <button class="replay-button replay-play" type="button" data-replay-do="play" aria-label="Play">
          <span class="replay-idle">
            <Icon name="play" />
          </span>
          <span class="replay-playing">
            <Icon name="pause" />
          </span>
        </button>
        <button class="replay-button" type="button" data-replay-do="forward" aria-label="Step forward">
          <Icon name="chevron-right" />
        </button>
        <input class="replay-range" type="range" min="0" max={last} step="1" value={last} aria-label="Step" />
        <output class="replay-at">
          {last} / {last}
        </output>
      </div>
      <p class="replay-now" aria-live="polite">
        {momentWords(episode, last)}
      </p>
      <figcaption class="replay-summary">{episodeSummary(episode)}</figcaption>
    </figure>
  )
}
