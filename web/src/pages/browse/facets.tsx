import type { Facets as FacetCounts } from '@agentgym/contract'
import { Icon } from '../../components/icon.tsx'
import { type BrowseQuery, browseAddress, type FacetName, facetNames } from './browse-query.ts'

const titles: Record<FacetName, string> = {
  kind: 'Kind',
  category: 'Category',
  difficulty: 'Difficulty',
  algorithm: 'Algorithm',
  price: 'Price',
}

/** Values shown at once; the others open on demand. */
const mostShown = 8

/** Filters with how many packages each value gives. On a phone they fold away. */
export function Facets({ counts, query }: { counts: FacetCounts; query: BrowseQuery }) {
  const chosen = facetNames.filter((name) => query[name] !== undefined).length
  return (
    <details class="facets">
      <summary>
        <Icon name="filter" />
        Filters{chosen > 0 && ` (${chosen})`}
      </summary>
      <nav class="facets-groups" aria-label="Filters">
        {facetNames.map((name) => (
          <FacetGroup name={name} values={counts[name]} query={query} />
        ))}
      </nav>
    </details>
  )
}

/** Algorithms are abbreviations; everything else is a word. */
export function shownValue(name: FacetName, value: string): string {
  return name === 'algorithm' ? value.toUpperCase() : `${value.charAt(0).toUpperCase()}${value.slice(1)}`
}

type Values = FacetCounts[FacetName]

function FacetGroup({ name, values, query }: { name: FacetName; values: Values; query: BrowseQuery }) {
  const chosen = query[name]
  if (values.length === 0 && chosen === undefined) return null
  // What is chosen stays in sight, also where it finds nothing.
  const known = chosen === undefined || values.some(({ value }) => value === chosen)
  const all = known ? values : [{ value: String(chosen), count: 0 }, ...values]
  const shown = all.filter(({ value }, index) => index < mostShown || value === chosen)
  const folded = all.filter((one) => !shown.includes(one))
  return (
    <section class="facet">
      <h2>{titles[name]}</h2>
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
              title={chosen ? 'Take this filter out' : undefined}
            >
              <span class="facet-value">{shownValue(name, value)}</span>
              <span class="facet-count">{count}</span>
              {chosen && <Icon name="x" size={12} />}
            </a>
          </li>
        )
      })}
    </ul>
  )
}
