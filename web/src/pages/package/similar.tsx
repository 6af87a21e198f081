import type { PackagePage } from '@agentgym/contract'
import { PackagePicture, packageAddress } from '../../components/package-list.tsx'

/** Similar scenarios, below everything that a visitor came for. Nothing where there are none. */
export function SimilarScenarios({ similar = [] }: Pick<PackagePage, 'similar'>) {
  if (similar.length === 0) return null
  return (
    <section class="package-section" aria-labelledby="similar">
      <h2 id="similar">Similar scenarios</h2>
      <ul class="cards">
        {similar.map(({ name, version, title, summary }) => (
          <li class="card">
            <PackagePicture name={name} version={version} />
            <div class="card-body">
              <h3>
                <a class="card-link" href={packageAddress(name)} dir="auto">
                  {title ?? name}
                </a>
              </h3>
              <p class="card-id">{name}</p>
              {summary !== null && <p class="card-summary">{summary}</p>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
