import { packageAddress } from '../../components/package-address.ts'
import { Prose } from './prose.tsx'
import type { VersionView } from './read-package.ts'

/** Of the page that shows all of a version's README. */
export function readmeAddress({ name, version }: { name: string; version: string }): string {
  return `${packageAddress(name)}/v/${encodeURIComponent(version)}/readme`
}

/** A version's README, however long, and nothing else of it. */
export function ReadmePage({ shown: { details, readmeHtml }, title }: { shown: VersionView; title: string }) {
  const { name, version } = details
  return (
    <>
      <p>
        <a href={`${packageAddress(name)}/v/${encodeURIComponent(version)}`}>Back to version {version}</a>
      </p>
      {readmeHtml.trim() === '' ? <p class="dim">It has no README.</p> : <Prose html={readmeHtml} title={title} />}
    </>
  )
}
