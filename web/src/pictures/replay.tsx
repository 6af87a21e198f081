import type { SampleEpisode } from '@agentgym/contract'
import { describeStep, episodeFrame, episodeSummary, episodeView, lastStep, rewardLine } from '@agentgym/pictures'
import { Icon } from '../components/icon.tsx'
import { useIsland } from '../layout/page-context.ts'
import { decision } from './decision.ts'
import { Picture } from './picture.tsx'
import { transcriptLog } from './transcript-log.ts'

/** Who plays: a version with a sample episode, or another episode at an address. The island requests it. */
export type ReplayPlayer = {
  /** In the toggle: `Random`, `Best agent`. */
  label: string
} & ({ name: string; version: string } | ReplaySource)

/** The address of an episode, and the title of its pictures. */
type ReplaySource = { address: string; title: string }

/** The viewer switches between them. */
export type ReplayPlayers = readonly [ReplayPlayer, ...ReplayPlayer[]]

type ReplayProps = {
  players: ReplayPlayers
  /** The sample episode of the first player. */
  episode: SampleEpisode
  /** `large`: with step, speed, reward and description; `small`: the picture, its decision, and play. */
  size?: 'large' | 'small'
}

/**
 * Sample episodes that play. Without JavaScript, and where reduced motion is preferred, the first player's at step 0.
 * Large transcripts are shown as text.
 */
export function Replay({ players, episode, size = 'large' }: ReplayProps) {
  useIsland('replay')
  return (
    <figure class={`replay replay-${size}`} data-replay>
      {players.length > 1 && <Toggle players={players} />}
      <ReplayPanel players={players} episode={episode} size={size} />
      <ReplayControls last={lastStep(episode)} size={size} />
    </figure>
  )
}

/** Address of the sample episode of a version. */
export function episodeAddress(name: string, version: string): string {
  return `/v1/packages/${name}/versions/${encodeURIComponent(version)}/sample-episode`
}

/** One picture of a replay, with what is decided in it. */
export function ReplayPanel({ players, episode, size = 'large' }: ReplayProps) {
  const view = episodeView(episode)
  const sources = players.map(sourceOf)
  const [{ title }] = sources
  const asText = size === 'large' && view?.kind === 'transcript'
  return (
    <div class="replay-panel" data-sources={JSON.stringify(sources)} data-text={asText ? '' : undefined}>
      <div class="replay-stage">
        <Picture picture={asText ? transcriptLog(episode, view, 0) : episodeFrame(episode, view, 0, { title })} />
      </div>
      <div class="replay-decision" data-rows={choicesOf(episode, players.length)}>
        <Picture picture={decision(episode, 0)} />
      </div>
      {size === 'large' && (
        <>
          {!asText && (
            <div class="replay-rewards">
              <Picture picture={rewardLine(episode, 0, 'Reward of each step')} />
            </div>
          )}
          <p class="replay-now" aria-live="polite">
            {describeStep(episode, 0)}
          </p>
          <p class="replay-summary">{episodeSummary(episode)}</p>
        </>
      )}
    </div>
  )
}

function sourceOf(player: ReplayPlayer): ReplaySource {
  if ('address' in player) return { address: player.address, title: player.title }
  const { label, name, version } = player
  return { address: episodeAddress(name, version), title: `${label}: sample episode of ${name}` }
}

/** Rows that the probabilities of any of the players may take, so that nothing below moves: 0 to 4. */
function choicesOf({ action: [leaf], steps }: SampleEpisode, players: number): number {
  const recorded = Math.max(...steps.map(({ likely = [] }) => likely.length))
  if (players === 1 || leaf?.kind !== 'discrete') return recorded
  return Math.max(recorded, Math.min(4, leaf.labels.length === 0 ? 4 : leaf.labels.length))
}

function Toggle({ players }: Pick<ReplayProps, 'players'>) {
  return (
    <fieldset class="replay-players" aria-label="Player">
      {players.map(({ label }, index) => (
        <button class="replay-player" type="button" data-replay-player={index} aria-pressed={String(index === 0)}>
          {label}
        </button>
      ))}
    </fieldset>
  )
}

const speeds = [0.25, 0.5, 1, 2, 4]

/** Shown once the island runs; their room is kept. `last`: number of steps. */
export function ReplayControls({ last, size = 'large' }: { last: number; size?: ReplayProps['size'] }) {
  return (
    <div class="replay-controls">
      <button class="replay-button replay-play" type="button" data-replay-do="play" aria-label="Play">
        <span class="replay-idle">
          <Icon name="play" />
        </span>
        <span class="replay-playing">
          <Icon name="pause" />
        </span>
      </button>
      <input class="replay-range" type="range" min="0" max={last} step="1" value="0" aria-label="Step" />
      {size === 'large' && (
        <>
          <span class="replay-at">0 / {last}</span>
          <details class="replay-more">
            <summary aria-label="Steps and speed" title="Steps and speed">
              <Icon name="chevron-down" />
            </summary>
            <div>
              <button class="replay-button" type="button" data-replay-do="back" aria-label="Step back">
                <Icon name="chevron-right" />
              </button>
              <button class="replay-button" type="button" data-replay-do="forward" aria-label="Step forward">
                <Icon name="chevron-right" />
              </button>
              <select class="replay-speed" aria-label="Speed">
                {speeds.map((speed) => (
                  <option value={speed} selected={speed === 1}>
                    {speed}×
                  </option>
                ))}
              </select>
            </div>
          </details>
        </>
      )}
    </div>
  )
}
