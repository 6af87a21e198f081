/** The records that ids are copied from, as a back end would keep them. */
import { type Rng, withDistinctIds } from '@agentgym/scenario'
import { entities, type ListName } from './tools.ts'

/** REPLACE: add the fields that your tools and the agent's observation need. */
export type Item = {
  readonly id: string
  /** How a request names it. */
  readonly name: string
}

export type Records = { [Name in ListName]: Item[] }

/** Items in each list. Observations have a slot for each. */
export const SLOTS = 4

const names = [
  'amber',
  'birch',
  'cedar',
  'coral',
  'delta',
  'ember',
  'flint',
  'grove',
  'heron',
  'indigo',
  'jasper',
  'lotus',
]

/** REPLACE: the records of one episode, as real ones look. */
export function openRecords(rng: Rng): Records {
  const records: Partial<Records> = {}
  for (const list of Object.keys(entities) as ListName[]) {
    const drawn = rng.shuffle(names).slice(0, SLOTS)
    const entity: string = entities[list]
    records[list] = withDistinctIds(
      drawn.map((name) => ({ id: `${entity}-${1000 + rng.int(9000)}`, name: `${entity} ${name}` })),
    )
  }
  return records as Records
}
