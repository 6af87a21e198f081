import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../../core/database/database.ts'
import { searchedWords, searchVectors } from '../../search/index-package.ts'
import type { SyntheticPackage } from './synthetic-packages.ts'

const batchSize = 1000

/** Adds packages, each with one published version, as publishing them would have left them: thousands a second. */
export async function loadPackages(database: Database, packages: Iterable<SyntheticPackage>): Promise<void> {
  let batch: SyntheticPackage[] = []
  for (const item of packages) {
    batch.push(item)
    if (batch.length < batchSize) continue
    await loadBatch(database, batch)
    batch = []
  }
  if (batch.length > 0) await loadBatch(database, batch)
  await database.execute('vacuum analyze')
}

async function loadBatch(database: Database, batch: SyntheticPackage[]): Promise<void> {
  const rows = JSON.stringify(batch.map((item) => ({ ...item, ...loadedColumns(item) })))
  const words = (field: string): RawBuilder<unknown> => sql.ref(`item.words_${field}`)
  const { search, searchRank } = searchVectors({
    name: words('name'),
    title: words('title'),
    labels: words('labels'),
    summary: words('summary'),
    readme: words('readme'),
  })
  await database.transaction(async (query) => {
    await sql`insert into accounts (kind, username, username_canonical)
      select distinct 'user', item.scope, item.scope from jsonb_to_recordset(${rows}::jsonb) as item (scope text)
      on conflict do nothing`.execute(query)
    await sql`with item as materialized (
        select * from jsonb_to_recordset(${rows}::jsonb) as item (
          name text, scope text, kind text, visibility text, price_minor bigint, title text, summary text, category text,
          difficulty text, algorithm text, trained_on text, solved boolean, keywords jsonb, quality int, downloads bigint, updated_at timestamptz,
          readme text, manifest jsonb, object_key text, words_name text, words_title text, words_labels text,
          words_summary text, words_readme text)
      ), made as (
        insert into packages (name, name_canonical, owner_id, kind, visibility, price_minor, price_kind, latest_version, title, summary,
          category, difficulty, algorithm, trained_on, solved, keywords, quality, downloads, updated_at, created_at, search,
          search_rank)
        select name, name, (select id from accounts where username = item.scope), kind, visibility, price_minor,
          case when price_minor > 0 then 'one_time' else 'free' end, '1.0.0',
          title, summary, category, difficulty, algorithm, trained_on, solved, keywords, quality, downloads, updated_at, updated_at,
          ${search}, ${searchRank} from item
        returning id, name, owner_id
      ), tagged as (
        insert into tags (package_id, tag, version) select id, 'latest', '1.0.0' from made
      )
      insert into versions (package_id, version, state, checks, steps_per_second, manifest, readme, integrity, shasum, object_key, size,
        unpacked_size, file_count, published_by, intended_tag, published_at, created_at, downloads)
      select made.id, '1.0.0', 'published', ${JSON.stringify(passedChecks)}::jsonb, 1200000, manifest, readme, ${integrity},
        ${'0'.repeat(40)}, object_key, 9000, 30000, 5, made.owner_id, 'latest', updated_at, updated_at, downloads
      from item join made using (name)`.execute(query)
  })
}

const integrity = `sha512-${'A'.repeat(86)}==`
const passed = ['manifest', 'bundle', 'loads', 'determinism', 'independence', 'replay', 'reward_varies', 'baselines']
const passedChecks = [
  ...[...passed, 'held_out', 'doctor'].map((id) => ({ id, ok: true, message: 'as it should be' })),
  { id: 'oracle', ok: true, message: 'the oracle meets the criteria', value: 1 },
  { id: 'speed', ok: true, message: '1.2 M environment steps a second, sandboxed, on one core' },
]

function loadedColumns(item: SyntheticPackage): Record<string, unknown> {
  const { kind, title, summary, category, difficulty, algorithm } = item
  const words = Object.entries(searchedWords(item)).map(([field, text]) => [`words_${field}`, text])
  return {
    ...Object.fromEntries(words),
    scope: item.name.slice(1, item.name.indexOf('/')),
    object_key: `sha256/${createHash('sha256').update(item.name).digest('hex')}`,
    manifest: {
      name: item.name,
      version: '1.0.0',
      license: 'MIT',
      keywords: item.keywords,
      agentgym: { kind, title, summary, category, difficulty, training: { algorithm }, success: { return_mean: 1 } },
    },
  }
}
