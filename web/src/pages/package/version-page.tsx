import type { VersionDetails } from '@agentgym/contract'
import { Command } from '../../components/command.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Time } from '../../components/time.tsx'
import { AgentVersion } from './agent-page.tsx'
import { Fact } from './fact.tsx'
import { Changes } from './prose.tsx'
import type { PackageView, VersionView } from './read-package.ts'
import { ScenarioVersion } from './scenario-page.tsx'
import { shownBytes } from './shown-bytes.ts'

/** What the first tab shows of `latest`, of one version by its number; with what was published, byte by byte. */
export function VersionPage({ view: { page }, shown }: { view: PackageView; shown: VersionView }) {
  const { details } = shown
  const title = page.title ?? page.name
  return (
    <>
      <VersionStanding details={details} latest={page.latest_version} />
      {details.changes !== null && (
        <section class="package-section" aria-labelledby="changes">
          <h2 id="changes">What changed</h2>
          <Changes html={details.changes.html} below={2} />
        </section>
      )}
      {page.kind === 'agent' ? (
        <AgentVersion shown={shown} title={title} />
      ) : (
        <ScenarioVersion shown={shown} title={title} />
      )}
      <Published details={details} />
    </>
  )
}

/** Whether one should use this version at all. */
function VersionStanding({ details, latest }: { details: VersionDetails; latest: string | null }) {
  const { name, version, state, yanked, deprecated } = details
  return (
    <>
      {state === 'checking' && (
        <Notice kind="warning">Version {version} is being checked. Only members of its account see it.</Notice>
      )}
      {state === 'rejected' && (
        <Notice kind="failure">
          Version {version} was rejected: its checks say why. Mend it and publish the next one; this number is taken.
        </Notice>
      )}
      {yanked && (
        <Notice kind="failure">
          Version {version} is yanked: its publisher advises against it. Whoever has it in a lockfile still gets it.
        </Notice>
      )}
      {deprecated !== null && (
        <Notice kind="warning">
          Version {version} is deprecated: {deprecated}
        </Notice>
      )}
      {latest !== null && latest !== version && state === 'published' && (
        <Notice kind="info">
          This is version {version}. <a href={packageAddress(name)}>The latest is {latest}.</a>
        </Notice>
      )}
    </>
  )
}

function Published({ details }: { details: VersionDetails }) {
  const { published_at, integrity, bundle_hash, size, unpacked_size, file_count, tags } = details
  return (
    <section class="package-section" aria-labelledby="published">
      <h2 id="published">What was published</h2>
      <dl class="package-facts">
        {published_at !== null && (
          <Fact label="Published">
            <Time at={published_at} />
          </Fact>
        )}
        {tags.length > 0 && <Fact label="Tags">{tags.join(', ')}</Fact>}
        <Fact label="Size">
          {shownBytes(size)}, {shownBytes(unpacked_size)} in {file_count} files
        </Fact>
        <Fact label="Integrity">
          <code>{integrity}</code>
        </Fact>
        {bundle_hash !== null && (
          <Fact label="Bundle, SHA-256">
            <code>{bundle_hash}</code>
          </Fact>
        )}
      </dl>
      <p class="package-label">Install exactly this</p>
      <Command text={`agentgym install ${details.name}@${details.version}`} />
    </section>
  )
}
