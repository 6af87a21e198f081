import type { ListedPackage } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { PackageList } from '../../components/package-list.tsx'

/** Nothing is here, or nothing that this visitor may know of: the same for both. */
export function NotFoundPage({ near, message }: { near: ListedPackage[]; message?: string }) {
  return (
    <div class="failure-page">
      <p class="failure-page-status">404</p>
      <h1>There is nothing here</h1>
      <p class="lead">
        {message ?? 'The address leads nowhere.'} What is private is shown to members of its account alone.
      </p>
      {near.length > 0 ? (
        <>
          <h2>Near to it</h2>
          <PackageList packages={near} label="Packages with similar names" />
        </>
      ) : (
        <p>
          <Button href="/packages">Browse all packages</Button>
        </p>
      )}
    </div>
  )
}
