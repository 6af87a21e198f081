import { setTimeout as delay } from 'node:timers/promises'
import type { PackagePage } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Queries } from '../../core/database/database.ts'
import { anyWord } from '../search/index.ts'
import type { ListedRow } from './search-packages.ts'

/** Similar scenarios of a scenario. */
const mostSimilar = 4
/** Scenarios that are found again in one go, so that none waits for long. */
const batchSize = 20
/** Length of pauses as a multiple of the work between them: requests have priority. */
const pauses = 4

type StaleRow = Pick<ListedRow, 'id' | 'title' | 'category' | 'keywords'> & { version: string; spaces: string | null }
type Stale = { id: string; version: string; texts: string[]; spaces: string | null }

/**
 * Finds similar scenarios again for those that have a new latest version, or whose list is a day old. Pages only read the
 * lists. Stops once the signal has aborted.
 */
export async function findSimilarScenarios(query: Queries, now: Date, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const stale = await staleScenarios(query, now)
    for (const scenario of stale) {
      if (signal?.aborted) return
      const startedMs = performance.now()
      await keepSimilar(query, scenario, now)
      await delay(pauses * (performance.now() - startedMs), undefined, { signal }).catch(() => {})
    }
    if (stale.length < batchSize) return
  }
}

const kindsOf = (side: 'observation' | 'action') => sql`(
  select string_agg(distinct leaf ->> 'kind', ' ' order by leaf ->> 'kind')
  from jsonb_array_elements(sample_episodes.episode -> ${sql.lit(side)}) leaf)`

async function staleScenarios(query: Queries, now: Date): Promise<Stale[]> {
  const { rows } = await sql<StaleRow>`
    select packages.id, packages.latest_version as version, packages.title, packages.category, packages.keywords,
      ${kindsOf('observation')} || ' / ' || ${kindsOf('action')} as spaces
    from packages
    join versions on versions.package_id = packages.id and versions.version = packages.latest_version
    left join sample_episodes on sample_episodes.version_id = versions.id
    left join similar_scenarios kept on kept.package_id = packages.id
    where packages.kind = 'scenario' and packages.latest_version is not null and (
      kept.package_id is null or kept.version <> packages.latest_version
      or kept.found_at < ${now}::timestamptz - interval '1 day')
    order by kept.version is not distinct from packages.latest_version, kept.found_at nulls first
    limit ${sql.lit(batchSize)}`.execute(query)
  return rows.map(({ id, version, title, category, keywords, spaces }) => ({
    ...{ id, version, spaces },
    texts: [...keywords, category ?? '', title ?? ''],
  }))
}

/**
 * Ranks the listed scenarios that share a word of title, category or keywords: by these words, by keywords and category as a
 * whole, and by the kinds of their spaces. The index finds the candidates, as in a search.
 */
async function keepSimilar(query: Queries, { id, version, texts, spaces }: Stale, now: Date): Promise<void> {
  const words = anyWord(texts)
  await sql`
    with me as (select * from packages where id = ${id}), found as (
      select packages.id,
        2 * (select count(*) from jsonb_array_elements_text(packages.keywords) word
          where me.keywords ? word) + (packages.category is not distinct from me.category)::int
        + 2 * (${spaces}::text is not null and coalesce(kept.spaces = ${spaces}::text, false))::int
        + 4 * ts_rank('{0, 0, 1, 0.2}', packages.search_rank, wanted)
        + least(1, ln(1 + packages.downloads::float8) / 14) as score
      from me, to_tsquery('simple', ${words ?? ''}) wanted, packages
      left join similar_scenarios kept on kept.package_id = packages.id
      where packages.search @@ wanted and packages.kind = 'scenario' and packages.id <> me.id
        and packages.latest_version is not null and packages.visibility = 'public' and packages.taken_down_at is null
      order by score desc, packages.id limit ${sql.lit(mostSimilar)}
    )
    insert into similar_scenarios (package_id, version, spaces, similar_ids, found_at)
    values (${id}, ${version}, ${spaces}, coalesce((select array_agg(id order by score desc, id) from found), '{}'), ${now})
    on conflict (package_id) do update set version = excluded.version, spaces = excluded.spaces,
      similar_ids = excluded.similar_ids, found_at = excluded.found_at`.execute(query)
}

/** Of a row of `packages`: those of its similar scenarios that everyone may see. */
export const similarScenarios = sql<NonNullable<PackagePage['similar']> | null>`(
  select json_agg(json_build_object('name', other.name, 'version', other.latest_version, 'title', other.title,
    'summary', other.summary) order by place)
  from similar_scenarios cross join unnest(similar_ids) with ordinality as listed (id, place)
  join packages other on other.id = listed.id
  where similar_scenarios.package_id = packages.id and other.latest_version is not null
    and other.visibility = 'public' and other.taken_down_at is null)`
