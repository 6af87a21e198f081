import type { SampleEpisode } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import type { ViewOf } from '@agentgym/pictures'
import {
  describeStep,
  episodeFrame,
  episodeSummary,
  episodeView,
  lastStep,
  transcriptCalls,
  transcriptTexts,
} from '@agentgym/pictures'
import { Icon } from '../components/icon.tsx'
import { useIsland } from '../layout/page-context.ts'
import { Picture } from './picture.tsx'

type ReplayProps = {
  episode: SampleEpisode
  /** `@acme/maze` and `1.0.0`: the island requests the episode from the API when it is played. */
  name: string
  version: string
}

/** A sample episode at its last step; playable with JavaScript. Transcripts are also shown as text. */
export function Replay({ episode, name, version }: ReplayProps) {
  useIsland('replay')
  const view = episodeView(episode)
  const last = lastStep(episode)
  const title = `Sample episode of ${name}`
  const address = `/v1/packages/${name}/versions/${encodeURIComponent(version)}/sample-episode`
  return (
    <figure class="replay" data-replay={address} data-view={JSON.stringify(view)} data-title={title}>
      {/* Hidden from screen readers for transcripts, which are also shown as text. */}
      {view?.kind === 'transcript' ? (
        <TranscriptLog episode={episode} view={view} />
      ) : (
        <div class="replay-stage">
          <Picture picture={episodeFrame(episode, view, last, { title })} />
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
        {describeStep(episode, last)}
      </p>
      <figcaption class="replay-summary">{episodeSummary(episode)}</figcaption>
    </figure>
  )
}

/** A text and all calls made about it. Texts run in the direction of their own script. */
function TranscriptLog({ episode, view }: { episode: SampleEpisode; view: ViewOf<'transcript'> }) {
  return (
    <div class="transcript">
      {transcriptTexts(episode).map((text) => (
        <p class="transcript-text" dir="auto">
          {text}
        </p>
      ))}
      <ol class="transcript-calls">
        {transcriptCalls(episode, view).map(({ action, reward, changes }, index) => (
          <li class="transcript-call" data-replay-step={index + 1}>
            <span class="transcript-action">{action}</span>
            <span class="transcript-reward" data-sign={Math.sign(reward)}>
              {reward > 0 ? '+' : ''}
              {formatValue(reward)}
            </span>
            {changes.length > 0 && (
              <ul class="transcript-changes">
                {changes.map((change) => (
                  <li dir="auto">{change}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}
