import type { FileList, FileView } from '@agentgym/contract'
import { raw } from 'hono/html'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Html, Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Form } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { formatBytes, formatCount } from '../../format.ts'
import { isHidden, nothing, PackageFrame, tabPage } from './package-frame.tsx'
import { type PackageView, packagePath, readPackage } from './read-package.ts'

const base = '/v1/packages/{scope}/{name}/versions/{version}'

export const fileRoutes = [
  route('get', '/packages/:scope/:name/files', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const { latest } = view.page
    if (latest === null || isHidden(view)) return tabPage(visit, view, '/files', nothing(view))
    const list = await readList(visit, latest.version)
    return tabPage(visit, view, '/files', <FileListPage list={list} view={view} />)
  }),

  route('get', '/packages/:scope/:name/v/:version/files', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const list = await readList(visit, visit.params.version)
    return filesPage(visit, view, `Files of ${list.name}@${list.version}`, <FileListPage list={list} view={view} />)
  }),

  route('post', '/packages/:scope/:name/v/:version/files', { access: 'account' }, async (visit) => {
    const { version } = visit.params
    const params = { path: { ...packagePath(visit), version } }
    const failure = await attempt(() => visit.api.POST(`${base}/files`, { params }))
    const name = `${visit.params.scope}/${visit.params.name}`
    if (failure === null) return visit.redirect(filesAddress({ name, version }))
    const view = await readPackage(visit)
    const list = await readList(visit, version)
    const page = <FileListPage list={list} view={view} failure={failure} />
    return filesPage(visit, view, `Files of ${name}@${version}`, page, failure.status)
  }),

  route('get', '/packages/:scope/:name/v/:version/files/:path{.+}', { access: 'public' }, async (visit) => {
    const view = await readPackage(visit)
    const { version, path } = visit.params
    const params = { path: { ...packagePath(visit), version }, query: { path } }
    const list = await readList(visit, version)
    const listed = list.files.find((file) => file.path === path)
    const { data: file } =
      listed !== undefined && !(listed.text && listed.readable)
        ? { data: null }
        : await visit.api.GET(`${base}/files/view`, { params })
    const page = <FilePage list={list} path={path} file={file} />
    return filesPage(visit, view, `${shownText(path)} of ${list.name}@${list.version}`, page)
  }),
]

async function readList(visit: Visit, version: string): Promise<FileList> {
  const { data } = await visit.api.GET(`${base}/files`, { params: { path: { ...packagePath(visit), version } } })
  return data
}

/** A page about the files of a version, within the package's frame. */
export function filesPage(visit: Visit, view: PackageView, title: string, body: Html, status = 200): Response {
  return visit.page(
    <PackageFrame view={view} tab="/files" version={visit.params.version}>
      {body}
    </PackageFrame>,
    // Not for search engines: the package's page is.
    { title, hidden: true, status },
  )
}

type VersionName = { name: string; version: string }

function versionAddress({ name, version }: VersionName): string {
  return `${packageAddress(name)}/v/${encodeURIComponent(version)}`
}

/** The page of a version's files, or of one of them. */
export function filesAddress(version: VersionName, path?: string): string {
  const files = `${versionAddress(version)}/files`
  return path === undefined ? files : `${files}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Where to compare a version with an earlier one. */
export function compareAddress(version: VersionName, base: string): string {
  return `${compareFormAddress(version)}/${encodeURIComponent(base)}`
}

/** Where a form leads that chooses the other version. */
export function compareFormAddress(version: VersionName): string {
  return `${versionAddress(version)}/compare`
}

/** Characters that change the order of a line's characters would show other code than runs. */
const bidiControls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A text, or HTML outside its tags, with such characters by their numbers. */
export function shownText(text: string): string {
  return text.replace(bidiControls, (mark) => `⟨U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

type Folder = { folders: Map<string, Folder>; files: FileList['files'] }

/** Files by their folders. */
function treeOf(files: FileList['files']): Folder {
  const root: Folder = { folders: new Map(), files: [] }
  for (const file of files) {
    let folder = root
    for (const part of file.path.split('/').slice(0, -1)) {
      const inner = folder.folders.get(part) ?? { folders: new Map(), files: [] }
      folder.folders.set(part, inner)
      folder = inner
    }
    folder.files.push(file)
  }
  return root
}

/** More would make a page of megabytes. */
const mostListed = 1_000

type FileListPageProps = { list: FileList; view: PackageView; failure?: FormFailure | null }

function FileListPage({ list, view, failure = null }: FileListPageProps) {
  const shown = list.files.slice(0, mostListed)
  const earlier = view.page.versions.find(({ version }) => version !== list.version)
  return (
    <section class="package-section" aria-labelledby="files">
      <div class="code-head">
        <h2 id="files">
          Files of <span class="mono">{list.version}</span>
        </h2>
        {earlier !== undefined && <a href={compareAddress(list, earlier.version)}>Compare with {earlier.version}</a>}
      </div>
      <Refusal list={list} failure={failure} />
      {list.files.length === 0 ? (
        <NoFiles ready={list.ready} />
      ) : (
        <FolderList folder={treeOf(shown)} version={list} open={shown.length <= 50} />
      )}
      {list.files.length > mostListed && (
        <p class="dim">
          The first {mostListed.toLocaleString('en')} of {list.files.length.toLocaleString('en')} files. The package has
          all of them.
        </p>
      )}
    </section>
  )
}

export function NoFiles({ ready }: { ready: boolean }) {
  return ready ? (
    <EmptyState title="Files not available">The files of this version can't be shown here.</EmptyState>
  ) : (
    <EmptyState title="Not read yet">Files appear here a few minutes after publishing. Reload the page.</EmptyState>
  )
}

/** Why only some files can be opened; for a license that is not used yet, with a button that uses it. */
export function Refusal({ list, failure = null }: { list: Omit<FileList, 'files'>; failure?: FormFailure | null }) {
  const { refused, name } = list
  if (refused === null) return null
  if (refused.code === 'license_unused')
    return (
      <Notice kind="info">
        <p>
          You haven't used your license yet. Opening the files counts as a download: after that, only the seller can
          refund your purchase.
        </p>
        <Form action={filesAddress(list)} failure={failure} label="Open files">
          <Button>Open files</Button>
        </Form>
      </Notice>
    )
  return (
    <Notice kind="info">
      {refused.code === 'hosted_only'
        ? 'The source of this package is not published: it is trained on this server only. '
        : 'The other files open once you own a license. '}
      <a href={packageAddress(name)}>See what the package does.</a>
    </Notice>
  )
}

type FolderListProps = { folder: Folder; version: VersionName; open: boolean }

function FolderList({ folder: { folders, files }, version, open }: FolderListProps) {
  return (
    <ul class="file-tree">
      {[...folders].map(([name, inner]) => (
        <li>
          <details open={open}>
            <summary class="file-folder">
              <bdi>{shownText(name)}/</bdi>
              <Icon name="chevron-down" size={14} />
            </summary>
            <FolderList folder={inner} version={version} open={open} />
          </details>
        </li>
      ))}
      {files.map(({ path, size, text, readable }) => {
        const name = <bdi>{shownText(path.slice(path.lastIndexOf('/') + 1))}</bdi>
        return (
          <li class="file-entry">
            {text && readable ? <a href={filesAddress(version, path)}>{name}</a> : <span class="dim">{name}</span>}
            <span class="file-size">{formatBytes(size)}</span>
          </li>
        )
      })}
    </ul>
  )
}

/** A file of a version. `file`: null if it can't be shown. */
function FilePage({ list, path, file }: { list: FileList; path: string; file: FileView | null }) {
  const download = `/v1/packages/${list.name}/versions/${encodeURIComponent(list.version)}/files/content`
  return (
    <section class="package-section" aria-labelledby="file">
      <p>
        <a href={filesAddress(list)}>All files of {list.version}</a>
      </p>
      <div class="code-head">
        <h2 id="file" class="mono">
          <bdi>{shownText(path)}</bdi>
        </h2>
        {file !== null && (
          <p class="code-facts">
            {formatCount(file.lines, 'line')}, {formatBytes(file.size)}
            <a href={`${download}?path=${encodeURIComponent(path)}`} download>
              Download
            </a>
          </p>
        )}
      </div>
      {file === null ? (
        <>
          <Refusal list={list} />
          {list.refused === null && (
            <EmptyState title="Not shown" command={`agentgym install ${list.name}@${list.version}`}>
              A binary file, or too large for a page. Install the package to open it.
            </EmptyState>
          )}
        </>
      ) : (
        <CodeLines file={file} />
      )}
    </section>
  )
}

/** Lines with numbers to link to. */
function CodeLines({ file: { html, complete, shown_lines: shown } }: { file: FileView }) {
  const lines = shownText(html).split('\n')
  return (
    <>
      <pre class="code" tabindex={0}>
        {lines.map((line, index) => (
          <span class="code-line" id={`L${index + 1}`}>
            <a class="code-number" href={`#L${index + 1}`} tabindex={-1} aria-label={`Line ${index + 1}`}>
              {index + 1}
            </a>
            <code>{raw(line === '' ? ' ' : line)}</code>
          </span>
        ))}
      </pre>
      {!complete && (
        <p class="dim">The first {shown.toLocaleString('en')} lines. Download the file to read all of it.</p>
      )}
    </>
  )
}
