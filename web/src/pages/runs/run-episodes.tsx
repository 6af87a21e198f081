import { AgentGymError, type RunEpisode, type SampleEpisode } from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { formatCount } from '../../format.ts'
import { Replay } from '../../pictures/replay.tsx'

/** Episodes of a run in order of steps, and the one on the page. */
export type SampledEpisodes = { list: RunEpisode[]; shown: { at: RunEpisode; episode: SampleEpisode } | null }

/** `wanted`: iteration in the URL; the latest episode if the run has none of then. */
export async function readShown(
  list: RunEpisode[],
  wanted: string | null,
  read: (iteration: number) => Promise<{ data: SampleEpisode }>,
): Promise<SampledEpisodes> {
  const at = list.find(({ iteration }) => String(iteration) === wanted) ?? list.at(-1)
  if (at === undefined) return { list, shown: null }
  try {
    return { list, shown: { at, episode: (await read(at.iteration)).data } }
  } catch (error) {
    // Others may have taken its place since the list was read.
    if (error instanceof AgentGymError) return { list: [], shown: null }
    throw error
  }
}

type RunEpisodesPartProps = {
  episodes: SampledEpisodes
  /** Of the page. */
  address: string
  /** Of the episodes; ends before the iteration. */
  source: string
  /** Whether the first may still come. */
  coming?: boolean
}

/** What the policy did at steps of training: one episode that plays, and links to the others. */
export function RunEpisodesPart({ episodes: { list, shown }, address, source, coming }: RunEpisodesPartProps) {
  if (shown === null && !coming) return null
  return (
    <section class="run-episodes" aria-labelledby="episodes" data-episodes>
      <h2 id="episodes">Episodes during training</h2>
      {shown === null ? (
        <p class="dim">Episodes that the agent plays during training appear here.</p>
      ) : (
        <div class="run-episodes-body">
          <div class="run-episode">
            <p class="run-episode-now">{titleOf(shown.at)}</p>
            <Replay
              players={[{ label: 'Agent', address: `${source}/${shown.at.iteration}`, title: titleOf(shown.at) }]}
              episode={shown.episode}
            />
          </div>
          <nav aria-label="Episodes by step of training">
            <ol class="run-episode-list">
              {list.map((each) => (
                <li>
                  <a
                    href={`${address}?episode=${each.iteration}#episodes`}
                    data-episode={each.iteration}
                    data-address={`${source}/${each.iteration}`}
                    data-title={titleOf(each)}
                    aria-current={each === shown.at ? 'true' : undefined}
                  >
                    <span>At {formatCount(each.steps, 'step')}</span>
                    <span class="run-episode-return">
                      <span class="visually-hidden">return </span>
                      {formatMetric(each.return)}
                    </span>
                  </a>
                </li>
              ))}
            </ol>
          </nav>
        </div>
      )}
    </section>
  )
}

function titleOf({ steps, length, return: episodeReturn }: RunEpisode): string {
  const at = `At ${formatCount(steps, 'step')} of training`
  return `${at}: return ${formatMetric(episodeReturn)} in an episode of ${formatCount(length, 'step')}`
}
