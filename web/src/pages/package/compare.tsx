import type { FileComparison, VersionComparison, VersionList } from '@agentgym/contract'
import { route } from '../../app/route.ts'
import { Button } from '../../components/controls.tsx'
import { Field } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { formatBytes, formatCount } from '../../format.ts'
import { compareAddress, compareFormAddress, filesAddress, filesPage, NoFiles, Refusal, shownText } from './files.tsx'
import { packagePath, readPackage } from './read-package.ts'

export const compareRoutes = [
  route('get', '/packages/:scope/:name/v/:version/compare/:base', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const { version, base } = visit.params
    const path = packagePath(visit)
    const [{ data: comparison }, { data: list }] = await Promise.all([
      visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}/compare/{base}', {
        params: { path: { ...path, version, base } },
      }),
      visit.api.GET('/v1/packages/{scope}/{name}/versions', { params: { path } }),
    ])
    const page = <ComparePage comparison={comparison} versions={list.versions} />
    return filesPage(visit, view, `${comparison.name}: ${base} to ${version}`, page)
  }),

  // The form that chooses another version.
  route('get', '/packages/:scope/:name/v/:version/compare', { access: 'public' }, ({ params, query, redirect }) => {
    const { version } = params
    const name = `${params.scope}/${params.name}`
    const base = query.get('base') ?? ''
    return redirect(base === '' ? filesAddress({ name, version }) : compareAddress({ name, version }, base))
  }),
]

type ComparePageProps = { comparison: VersionComparison; versions: VersionList['versions'] }

/** Versions to choose from. */
const mostOffered = 100

function ComparePage({ comparison, versions }: ComparePageProps) {
  const { name, version, base, files, files_changed: changed } = comparison
  const others = versions.filter((one) => one.version !== version).slice(0, mostOffered)
  return (
    <section class="package-section" aria-labelledby="compare">
      <p>
        <a href={filesAddress({ name, version })}>All files of {version}</a>
      </p>
      <h2 id="compare">
        Changes from <span class="mono">{base}</span> to <span class="mono">{version}</span>
      </h2>
      <form class="compare-form" method="get" action={compareFormAddress({ name, version })}>
        <Field
          label="Compare with"
          name="base"
          value={base}
          options={others.map((other) => ({
            value: other.version,
            label: `${other.version}${other.yanked ? ' (yanked)' : ''}`,
          }))}
        />
        <Button>Compare</Button>
      </form>
      <Refusal list={comparison} />
      {!comparison.ready ? (
        <NoFiles ready={false} />
      ) : files.length === 0 ? (
        <EmptyState title="No differences">
          {comparison.refused === null
            ? 'Both versions have the same files.'
            : 'README, changelog and package.json are the same in both versions.'}
        </EmptyState>
      ) : (
        <>
          <p class="dim">
            {formatCount(changed, 'file')} changed
            {changed > files.length && `; the first ${files.length} are shown`}
          </p>
          {files.map((file) => (
            <ComparedFile file={file} name={name} version={version} />
          ))}
        </>
      )}
    </section>
  )
}

const reasons = { binary: 'Binary, or too large to compare', too_large: 'Too large to compare' }

type ComparedFileProps = { file: FileComparison; name: string; version: string }

/** A changed file; closed if a bundler wrote it. */
function ComparedFile({ file, name, version }: ComparedFileProps) {
  const { path, change, size_before: before, size_after: after, hunks, omitted } = file
  const sizes = [before, after].filter((size) => size !== null).map(formatBytes)
  return (
    <details class="compared" open={hunks !== null && !path.startsWith('dist/')}>
      <summary>
        <bdi class="mono">{shownText(path)}</bdi>
        <span class="dim">
          {change}, {sizes.join(' to ')} <Icon name="chevron-down" size={14} />
        </span>
      </summary>
      {hunks === null ? (
        <p class="dim">
          {omitted !== null && reasons[omitted]}.{' '}
          {change !== 'removed' && omitted === 'too_large' && (
            <a href={filesAddress({ name, version }, path)}>Open the file</a>
          )}
        </p>
      ) : (
        <pre class="code" tabindex={0}>
          {hunks.map(({ before_line, after_line, lines }) => (
            <>
              <span class="code-line code-hunk">
                {before_line === after_line ? `Line ${after_line}` : `Line ${before_line}, now ${after_line}`}
              </span>
              {lines.map((line) => (
                <span class={`code-line code-${lineKinds[line[0]] ?? 'note'}`}>
                  <code>{shownText(line)}</code>
                </span>
              ))}
            </>
          ))}
        </pre>
      )}
    </details>
  )
}

const lineKinds: Record<string, string> = { '+': 'added', '-': 'removed', ' ': 'same' }
