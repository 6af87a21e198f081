import type { PolicySpec, SampleEpisode } from '@agentgym/contract'
import { type Column, Table } from '../../components/table.tsx'

/** One part of what is seen or done. */
type SpaceRow = { side: 'Observation' | 'Action'; name: string; kind: string; shape: string; values: string }

const columns: Column<SpaceRow>[] = [
  { title: 'Space', heading: true, cell: ({ side }) => side },
  { title: 'Part', cell: ({ name }) => (name === '' ? <span class="dim">all of it</span> : <code>{name}</code>) },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'Shape', numeric: true, cell: ({ shape }) => shape },
  { title: 'Values', wide: true, cell: ({ values }) => values },
]

/** What is observed and done, part by part. */
export function SpacesTable({ rows, caption }: { rows: SpaceRow[]; caption: string }) {
  return <Table rows={rows} columns={columns} caption={caption} />
}

const kinds = { box: 'numbers', discrete: 'one choice', multiDiscrete: 'choices', text: 'text' }

/** As the sample episode of a scenario has written them down. */
export function spacesOfEpisode({ observation, action }: SampleEpisode): SpaceRow[] {
  return [
    ...observation.map((leaf) => ({
      ...{ side: 'Observation' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.kind === 'text' ? '1' : leaf.shape.join(' × '), values: '' },
    })),
    ...action.map((leaf) => ({
      ...{ side: 'Action' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.shape.join(' × '), values: leaf.labels.join(', ') },
    })),
  ]
}

/** As an agent's policy reads and writes them. */
export function spacesOfPolicy({ observation, action }: PolicySpec): SpaceRow[] {
  return [
    ...observation.map((leaf) => ({
      ...{ side: 'Observation' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: leaf.shape.join(' × '), values: choices(leaf.counts) },
    })),
    ...action.map((leaf) => ({
      ...{ side: 'Action' as const, name: leaf.name, kind: kinds[leaf.kind] },
      ...{ shape: String(leaf.size), values: choices(leaf.counts) },
    })),
  ]
}

function choices(counts: number[]): string {
  if (counts.length === 0) return 'real numbers'
  return counts.length > 6
    ? `${counts.length} of ${Math.min(...counts)} to ${Math.max(...counts)}`
    : `of ${counts.join(', ')}`
}
