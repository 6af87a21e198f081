import type { Facets as FacetCounts, PackageList as FoundPackages } from '@agentgym/contract'
import { route } from '../app/route.ts'
import { Button } from '../components/controls.tsx'
import { Icon } from '../components/icon.tsx'
import { EmptyState } from '../components/messages.tsx'
import { PackageList } from '../components/package-list.tsx'
import { formatCount } from '../format.ts'
import { type BrowseQuery, browseAddress, type FacetName, facetNames, readBrowseQuery } from './browse-query.ts'

export const browseRoutes = [
  route('get', '/packages', { access: 'public' }, async (visit) => {
    const query = readBrowseQuery(visit.query)
    const { data } = await visit.api.GET('/v1/packages', { params: { query: { ...query, limit: 20 } } })
    return visit.page(<BrowsePage found={data} query={query} />, {
      title: browseTitle(query),
      description:
        'Browse reinforcement-learning scenarios and verified agents by type, difficulty, quality and price.',
      canonical: browseAddress({ sort: 'relevance', kind: query.kind, category: query.category }),
      hidden: query.cursor !== undefined || query.q !== undefined,
    })
  }),
]

const sorts: { sort: BrowseQuery['sort']; title: string }[] = [
  { sort: 'relevance', title: 'Best match' },
  { sort: 'downloads', title: 'Downloads' },
  { sort: 'quality', title: 'Quality' },
  { sort: 'newest', title: 'Newest' },
]

/** Search, filters and results. */
function BrowsePage({ found, query }: { found: FoundPackages; query: BrowseQuery }) {
  return (
    <div class="browse">
      <Facets counts={found.facets} query={query} />
      <div class="browse-results">
        <header class="browse-head">
          <h1>{browseTitle(query)}</h1>
          <p class="dim">{formatCount(found.total, 'package')}</p>
        </header>
        <div class="browse-bar">
          <Chosen query={query} />
          <Sorts query={query} />
        </div>
        {found.packages.length === 0 ? (
          <NothingFound query={query} />
        ) : (
          <PackageList packages={found.packages} label="Packages" level={2} />
        )}
        <nav class="pager" aria-label="Pages">
          {query.cursor !== undefined && <Button href={browseAddress(query)}>First page</Button>}
          {found.next_cursor !== null && (
            <Button href={browseAddress(query, { cursor: found.next_cursor })}>
              Next page <Icon name="chevron-right" />
            </Button>
          )}
        </nav>
      </div>
    </div>
  )
}

function browseTitle({ q, kind, category, scenario }: BrowseQuery): string {
  const things = kind === undefined ? 'Scenarios and agents' : kind === 'agent' ? 'Agents' : 'Scenarios'
  if (scenario !== undefined && q === undefined) return `Agents for ${scenario}`
  if (q !== undefined) return `“${q}” in ${things.toLowerCase()}`
  return category === undefined ? things : `${things}: ${category}`
}

/** Active filters, each with a button to remove it. */
function Chosen({ query }: { query: BrowseQuery }) {
  // The title says the kind, and its filter removes it.
  const chosen = (['q', ...facetNames] as const).filter((name) => name !== 'kind' && query[name] !== undefined)
  return (
    <ul class="chosen">
      {chosen.map((name) => (
        <li>
          <a href={browseAddress(query, { [name]: undefined })} title="Remove filter">
            <span class="visually-hidden">Remove filter </span>
            <span class="chosen-value">{name === 'q' ? `“${query.q}”` : facetLabel(name, query[name] ?? '')}</span>
            <Icon name="x" size={12} />
          </a>
        </li>
      ))}
      {chosen.length > 1 && (
        <li>
          <a class="chosen-all" href={browseAddress({ sort: query.sort })}>
            Clear filters
          </a>
        </li>
      )}
    </ul>
  )
}

function Sorts({ query }: { query: BrowseQuery }) {
  // Without words, relevance does not apply.
  const offered = query.q === undefined ? sorts.filter(({ sort }) => sort !== 'relevance') : sorts
  const current = query.q === undefined && query.sort === 'relevance' ? 'downloads' : query.sort
  return (
    <details class="menu sort-menu">
      <summary>
        Sort: {sorts.find(({ sort }) => sort === current)?.title} <Icon name="chevron-down" size={14} />
      </summary>
      <nav class="menu-list" aria-label="Sort">
        {offered.map(({ sort, title }) => (
          <a href={browseAddress(query, { sort })} aria-current={sort === current ? 'true' : undefined}>
            {title}
          </a>
        ))}
      </nav>
    </details>
  )
}

function NothingFound({ query }: { query: BrowseQuery }) {
  const narrowed = facetNames.some((name) => query[name] !== undefined)
  if (query.q === undefined && !narrowed)
    return (
      <EmptyState title="No packages yet" command="agentgym scenario init my-scenario">
        Published scenarios and agents appear here. Start with a scenario of your own.
      </EmptyState>
    )
  return (
    <EmptyState title="No results">
      <p>{narrowed ? 'Remove a filter or try fewer words.' : 'Try fewer or shorter words.'}</p>
      <Button href="/packages">Browse all packages</Button>
    </EmptyState>
  )
}

const facetTitles: Record<FacetName, string> = {
  kind: 'Type',
  scenario: 'Scenario',
  category: 'Category',
  difficulty: 'Difficulty',
  algorithm: 'Algorithm',
  solved: 'Result',
  price: 'Price',
}

/** Values shown at once; the others open on demand. */
const mostShown = 5

/** Filters with the number of packages for each value. Collapsed on phones. */
function Facets({ counts, query }: { counts: FacetCounts; query: BrowseQuery }) {
  const chosen = facetNames.filter((name) => query[name] !== undefined).length
  return (
    <details class="facets">
      <summary>
        <Icon name="filter" />
        Filters{chosen > 0 && ` (${chosen})`}
      </summary>
      <nav class="facets-groups" aria-label="Filters">
        {facetNames.map((name) => (
          <FacetGroup name={name} values={counts[name] ?? []} query={query} />
        ))}
      </nav>
    </details>
  )
}

/** Algorithms are abbreviations, scenarios are names; everything else is a word. */
function facetLabel(name: FacetName, value: string): string {
  if (name === 'scenario') return value
  if (name === 'solved') return value === 'yes' ? 'Solved' : 'Not solved'
  return name === 'algorithm' ? value.toUpperCase() : `${value.charAt(0).toUpperCase()}${value.slice(1)}`
}

type Values = NonNullable<FacetCounts[FacetName]>

function FacetGroup({ name, values, query }: { name: FacetName; values: Values; query: BrowseQuery }) {
  const chosen = query[name]
  if (values.length === 0 && chosen === undefined) return null
  // Selected values stay visible, even without results.
  const known = chosen === undefined || values.some(({ value }) => value === chosen)
  const all = known ? values : [{ value: String(chosen), count: 0 }, ...values]
  const shown = all.filter(({ value }, index) => index < mostShown || value === chosen)
  const folded = all.filter((one) => !shown.includes(one))
  return (
    <section class="facet">
      <h2>{facetTitles[name]}</h2>
      <FacetList name={name} values={shown} query={query} />
      {folded.length > 0 && (
        <details class="facet-more">
          <summary>{folded.length} more</summary>
          <FacetList name={name} values={folded} query={query} />
        </details>
      )}
    </section>
  )
}

function FacetList({ name, values, query }: { name: FacetName; values: Values; query: BrowseQuery }) {
  return (
    <ul>
      {values.map(({ value, count }) => {
        const chosen = query[name] === value
        return (
          <li>
            <a
              href={browseAddress(query, { [name]: chosen ? undefined : value })}
              aria-current={chosen ? 'true' : undefined}
              title={chosen ? 'Remove filter' : name === 'scenario' ? value : undefined}
            >
              <span class="facet-value">{facetLabel(name, value)}</span>
              <span class="facet-count">{count}</span>
              {chosen && <Icon name="x" size={12} />}
            </a>
          </li>
        )
      })}
    </ul>
  )
}
