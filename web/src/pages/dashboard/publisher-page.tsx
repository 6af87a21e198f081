import type { Publisher } from '@agentgym/contract'
import { EmptyState } from '../../components/empty-state.tsx'
import { PackageList } from '../../components/package-list.tsx'
import { Time } from '../../components/time.tsx'
import { usePage } from '../../layout/page-context.ts'

/** A user or an organisation, and what they publish. */
export function PublisherPage({ publisher }: { publisher: Publisher }) {
  const { account } = usePage()
  const { username, display_name, kind, packages } = publisher
  const own = account?.username === username
  return (
    <div class="desk">
      <div class="publisher-head">
        <h1>{display_name ?? username}</h1>
        <p class="report-facts">
          <span class="mono">@{username}</span>
          <span>{kind}</span>
          <span>
            here since <Time at={publisher.created_at} />
          </span>
        </p>
      </div>
      <section class="desk-section" aria-labelledby="packages">
        <h2 id="packages">Packages</h2>
        {packages.length > 0 ? (
          <PackageList packages={packages} label={`Packages of ${username}`} />
        ) : (
          <EmptyState
            title={`${display_name ?? username} has published nothing yet`}
            command={own ? 'agentgym scenario publish' : undefined}
          >
            <p>
              {own ? <a href="/publish">How to publish</a> : <a href="/packages">Browse what others have published</a>}
            </p>
          </EmptyState>
        )}
      </section>
    </div>
  )
}
