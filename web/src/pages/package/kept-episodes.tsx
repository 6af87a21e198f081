import type { KeptEpisode, KeptEpisodeList } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { formatCount } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { appealAddress } from './appeal.tsx'
import type { PlayPage } from './read-play.ts'

type KeptEpisodesProps = { play: PlayPage; kept: KeptEpisodeList }

/** What people reach, and the visitor's own episodes, which islands update. */
export function KeptEpisodes({ play: { shown, moderated }, kept }: KeptEpisodesProps) {
  const { account } = usePage()
  const address = `${packageAddress(shown.details.name)}/play/episodes`
  const { people, scenario, episodes } = kept
  if (people === null && episodes.length === 0 && moderated.length === 0)
    return <div data-part="episodes" id="episodes" class="kept-episodes" />
  return (
    <div data-part="episodes" id="episodes" class="kept-episodes">
      <h3>Episodes of people</h3>
      {people !== null && (
        <p>
          People: <strong class="mono">{formatValue(Number(people.return_mean.toPrecision(4)))}</strong>{' '}
          <span class="dim">
            mean return, {formatCount(people.people, 'person', 'people')}, {formatCount(people.episodes, 'episode')}.
            Each person counts once, by the mean of the episodes they keep.
          </span>{' '}
          <a href={`/v1/packages/${scenario.name}/versions/${scenario.version}/demonstrations.jsonl`} download>
            Download demonstrations
          </a>
        </p>
      )}
      {account !== null && episodes.length > 0 && (
        <Table
          caption="Your episodes"
          rows={episodes}
          columns={[
            ...columns,
            {
              title: 'Actions',
              cell: ({ id, state, version, removed }) => (
                <span class="kept-actions">
                  {removed && <a href={appealAddress(shown.details.name, { episode: id, version })}>Appeal</a>}
                  {state === 'kept' && (
                    <a href={`/v1/demonstrations/${id}/episode.jsonl`} download>
                      Download
                    </a>
                  )}
                  <Form action={`${address}/${id}/remove`} look="inline" label="Remove this episode">
                    <Button size="small">Remove</Button>
                  </Form>
                </span>
              ),
            },
          ]}
        />
      )}
      {moderated.length > 0 && <Moderated episodes={moderated} address={address} />}
    </div>
  )
}

const columns: Column<KeptEpisode>[] = [
  { title: 'Episode', heading: true, cell: ({ episode }) => episode + 1 },
  { title: 'Return', numeric: true, cell: (episode) => <Score episode={episode} /> },
  { title: 'Steps', numeric: true, wide: true, cell: ({ steps }) => steps.toLocaleString('en') },
  { title: 'Kept', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

function Score({ episode: { state, return: sum, message, removed } }: { episode: KeptEpisode }) {
  if (removed) return <span class="kept-refused">Removed: {removed.reason}</span>
  if (state === 'checking') return <span data-checking>Replaying</span>
  if (state === 'refused') return <span class="kept-refused">Refused: {message}</span>
  return <>{sum === null ? '–' : formatValue(Number(sum.toPrecision(4)))}</>
}

/** For operators. */
function Moderated({ episodes, address }: { episodes: KeptEpisode[]; address: string }) {
  return (
    <details class="more">
      <summary>Remove episodes of others</summary>
      <ul class="kept-moderated">
        {episodes.map((episode) => (
          <li>
            <span>
              {episode.by}, episode {episode.episode + 1}: <Score episode={episode} />
            </span>
            <Form action={`${address}/${episode.id}/take-down`} label={`Remove an episode of ${episode.by}`}>
              <Field label="Reason" name={`reason-${episode.id}`} maxlength={2_000} required />
              <Button size="small">Remove</Button>
            </Form>
          </li>
        ))}
      </ul>
    </details>
  )
}
