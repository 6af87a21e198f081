import type { PackageList as FoundPackages } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { PackageList } from '../../components/package-list.tsx'
import { type BrowseQuery, browseAddress, facetNames } from './browse-query.ts'
import { Facets, shownValue } from './facets.tsx'

const sorts: { sort: BrowseQuery['sort']; title: string }[] = [
  { sort: 'relevance', title: 'Best match' },
  { sort: 'downloads', title: 'Downloads' },
  { sort: 'quality', title: 'Quality' },
  { sort: 'newest', title: 'Newest' },
]

/** Search, filters and what they found. */
export function BrowsePage({ found, query }: { found: FoundPackages; query: BrowseQuery }) {
  return (
    <div class="browse">
      <Facets counts={found.facets} query={query} />
      <div class="browse-results">
        <header class="browse-head">
          <h1>{browseTitle(query)}</h1>
          <p class="dim">
            {found.total.toLocaleString('en')} {found.total === 1 ? 'package' : 'packages'}
          </p>
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

export function browseTitle({ q, kind, category }: BrowseQuery): string {
  const things = kind === undefined ? 'Scenarios and agents' : kind === 'agent' ? 'Agents' : 'Scenarios'
  if (q !== undefined) return `“${q}” in ${things.toLowerCase()}`
  return category === undefined ? things : `${things}: ${category}`
}

/** What narrows the list, each with a way to take it out. */
function Chosen({ query }: { query: BrowseQuery }) {
  const chosen = (['q', ...facetNames] as const).filter((name) => query[name] !== undefined)
  return (
    <ul class="chosen">
      {chosen.map((name) => (
        <li>
          <a href={browseAddress(query, { [name]: undefined })} title="Take this filter out">
            <span class="visually-hidden">Without </span>
            <span class="chosen-value">{name === 'q' ? `“${query.q}”` : shownValue(name, query[name] ?? '')}</span>
            <Icon name="x" size={12} />
          </a>
        </li>
      ))}
      {chosen.length > 1 && (
        <li>
          <a class="chosen-all" href={browseAddress({ sort: query.sort })}>
            Take all out
          </a>
        </li>
      )}
    </ul>
  )
}

function Sorts({ query }: { query: BrowseQuery }) {
  // Without words everything matches alike.
  const offered = query.q === undefined ? sorts.filter(({ sort }) => sort !== 'relevance') : sorts
  const current = query.q === undefined && query.sort === 'relevance' ? 'downloads' : query.sort
  return (
    <nav class="sorts" aria-label="Order">
      {offered.map(({ sort, title }) => (
        <a href={browseAddress(query, { sort })} aria-current={sort === current ? 'true' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

function NothingFound({ query }: { query: BrowseQuery }) {
  const narrowed = facetNames.some((name) => query[name] !== undefined)
  if (query.q === undefined && !narrowed)
    return (
      <EmptyState title="No package has been published yet" command="agentgym scenario init my-scenario">
        Scenarios and agents stand here once somebody has published one. Begin with a scenario of your own.
      </EmptyState>
    )
  return (
    <EmptyState title="Nothing matches">
      <p>
        {narrowed ? 'Take a filter out, or search for less.' : 'Search for fewer words, or for the beginning of one.'}
      </p>
      <Button href="/packages">Show everything</Button>
    </EmptyState>
  )
}
