import type { VersionDetails } from '@agentgym/contract'
import { episodeSummary } from '@agentgym/pictures'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { pictureDocument } from '../pictures/picture.tsx'
import { thumbnail } from '../pictures/thumbnail.ts'
import { notFound } from './failures.tsx'
import { readSampleEpisode } from './package/read-package.ts'

/** Cache duration: versions are immutable, but their visibility changes, and an agent may get its episode later. */
const keptSeconds = 3_600

const headers = {
  'content-type': 'image/svg+xml; charset=utf-8',
  // Its style is inline. The image loads and runs nothing.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cache-control': `private, max-age=${keptSeconds}`,
}

export const pictureRoutes = [
  /** The thumbnail of a version: an episode's end, or an emblem. */
  route('get', '/pictures/:scope/:name/:version', { access: 'public' }, async (visit) => {
    const [{ data }, episode] = await Promise.all([
      visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}', inPath(visit)),
      readSampleEpisode(visit, versionIn(visit)),
    ])
    return new Response(pictureDocument(thumbnail(data, episode)), { headers })
  }),

  /** What other sites show for a link to a version's page. */
  route('get', '/pictures/:scope/:name/:version/preview.png', { access: 'public' }, async (visit) => {
    const { drawPreview } = visit.host
    const [{ data }, episode] = await Promise.all([
      visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}', inPath(visit)),
      readSampleEpisode(visit, versionIn(visit)),
    ])
    if (drawPreview === undefined) return notFound(visit)
    const png = await drawPreview({
      // An agent may get its episode later.
      key: `${data.name}@${data.version} ${episode?.policy}`,
      title: titleOf(data),
      lines: [data.name, ...(episode === null ? [] : episodeSummary(episode).split(/: |; /).slice(0, 2))],
      picture: thumbnail(data, episode),
    })
    if (png === null) return new Response(null, { status: 503, headers: { 'retry-after': '5' } })
    return new Response(Uint8Array.from(png), { headers: { ...headers, 'content-type': 'image/png' } })
  }),
]

/** From its package.json, which is the publisher's. */
function titleOf({ name, manifest }: VersionDetails): string {
  const { title } = Object(manifest.agentgym) as { title?: unknown }
  return typeof title === 'string' && title.trim() !== '' ? title : name
}

function inPath({ params: { scope, name, version } }: Visit) {
  return { params: { path: { scope, name, version } } }
}

function versionIn({ params: { scope, name, version } }: Visit) {
  return { name: `${scope}/${name}`, version }
}
