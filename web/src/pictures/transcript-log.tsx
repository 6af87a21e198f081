import type { SampleEpisode } from '@agentgym/contract'
import type { ViewOf } from './scene.ts'
import { shownNumber } from './shown-number.ts'
import { transcriptCalls, transcriptTexts } from './transcript-lines.ts'

/** A text and every call that was made about it. Texts run in the direction of their own script. */
export function TranscriptLog({ episode, view }: { episode: SampleEpisode; view: ViewOf<'transcript'> }) {
  return (
    <div class="transcript">
      {transcriptTexts(episode).map((text) => (
        <p class="transcript-text" dir="auto">
          {text}
        </p>
      ))}
      <ol class="transcript-calls">
        {transcriptCalls(episode, view.facts).map(({ action, reward, changes }, index) => (
          <li class="transcript-call" data-replay-step={index + 1}>
            <span class="transcript-action">{action}</span>
            <span class="transcript-reward" data-sign={Math.sign(reward)}>
              {reward > 0 ? '+' : ''}
              {shownNumber(reward)}
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
