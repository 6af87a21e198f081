import type { ListedPackage, Publisher, VersionList } from '@agentgym/contract'
import { route } from '../app/route.ts'
import { packageAddress } from '../components/package-list.tsx'
import { packagePath } from './package/read-package.ts'

export const feedRoutes = [
  /** The published versions of a package. */
  route('get', '/packages/:scope/:name/feed.atom', { access: 'public' }, async (visit) => {
    const params = { path: packagePath(visit) }
    const [{ data: page }, { data: list }] = await Promise.all([
      visit.api.GET('/v1/packages/{scope}/{name}', { params }),
      visit.api.GET('/v1/packages/{scope}/{name}/versions', { params }),
    ])
    const title = page.title === null ? page.name : `${page.title} (${page.name})`
    const entries = list.versions
      .filter(({ state }) => state === 'published')
      .map((one) => versionEntry(page.name, one))
    const feed = { path: packageAddress(page.name), title: `Versions of ${title}`, author: page.owner.username }
    return answerFeed({ ...feed, created: page.created_at, entries }, visit.host.publicUrl)
  }),

  /** The packages of a publisher, each with its latest version. */
  route('get', '/:scope{@[^/]+}/feed.atom', { access: 'public' }, async (visit) => {
    const username = visit.params.scope.slice(1)
    const { data } = await visit.api.GET('/v1/accounts/{username}', { params: { path: { username } } })
    return answerFeed(publisherFeed(data), visit.host.publicUrl)
  }),
]

function publisherFeed({ username, display_name: name, created_at: created, packages }: Publisher): Feed {
  return {
    path: `/@${username}`,
    title: `Packages of ${name ?? username}`,
    author: username,
    created,
    entries: packages.filter(({ visibility }) => visibility === 'public').map(packageEntry),
  }
}

function versionEntry(name: string, version: VersionList['versions'][number]): Entry {
  const { yanked, deprecated } = version
  return {
    path: versionPath(name, version.version),
    title: `${name}@${version.version}${yanked ? ' (yanked)' : ''}`,
    updated: version.published_at ?? version.created_at,
    summary: yanked ? 'This version was yanked by its publisher.' : (deprecated ?? ''),
    category: yanked ? 'yanked' : null,
  }
}

function packageEntry({ name, title, latest_version: version, updated_at, summary, kind }: ListedPackage): Entry {
  return {
    path: version === null ? packageAddress(name) : versionPath(name, version),
    title: `${title ?? name} ${version ?? ''}`.trim(),
    updated: updated_at,
    summary: summary ?? '',
    category: kind,
  }
}

function versionPath(name: string, version: string): string {
  return `${packageAddress(name)}/v/${encodeURIComponent(version)}`
}

type Entry = { path: string; title: string; updated: string; summary: string; category: string | null }
/** `path`: the page that it follows. `created`: its date while it has no entries. */
type Feed = { path: string; title: string; author: string; created: string; entries: Entry[] }

/** Entries in a feed, newest first. */
const mostEntries = 50

/** An Atom feed (RFC 4287). The IDs are addresses of pages, which never change. */
export function atomFeed(feed: Feed, publicUrl: string): string {
  const url = (path: string) => escapeXml(publicUrl + path)
  const entries = feed.entries.toSorted((one, other) => Date.parse(other.updated) - Date.parse(one.updated))
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${url(`${feed.path}/feed.atom`)}</id>`,
    `<title>${escapeXml(feed.title)}</title>`,
    `<updated>${entries[0]?.updated ?? feed.created}</updated>`,
    `<author><name>${escapeXml(feed.author)}</name></author>`,
    `<link rel="self" type="application/atom+xml" href="${url(`${feed.path}/feed.atom`)}"/>`,
    `<link rel="alternate" type="text/html" href="${url(feed.path)}"/>`,
    ...entries
      .slice(0, mostEntries)
      .flatMap(({ path, title, updated, summary, category }) => [
        '<entry>',
        `<id>${url(path)}</id>`,
        `<title>${escapeXml(title)}</title>`,
        `<updated>${updated}</updated>`,
        `<link rel="alternate" type="text/html" href="${url(path)}"/>`,
        ...(category === null ? [] : [`<category term="${escapeXml(category)}"/>`]),
        `<summary>${escapeXml(summary)}</summary>`,
        '</entry>',
      ]),
    '</feed>',
    '',
  ].join('\n')
}

/** For text and for attributes in quotes, without characters that XML 1.0 does not allow. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`)
}

function answerFeed(feed: Feed, publicUrl: string): Response {
  return new Response(atomFeed(feed, publicUrl), {
    headers: {
      'content-type': 'application/atom+xml; charset=utf-8',
      // A browser that opens it loads and runs nothing.
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'private, no-cache',
      vary: 'cookie',
    },
  })
}
