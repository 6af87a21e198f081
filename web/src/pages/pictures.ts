import { AgentGymError, type SampleEpisode } from '@agentgym/contract'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { pictureDocument } from '../pictures/picture.tsx'
import { thumbnail } from '../pictures/thumbnail.ts'

/** Cache duration: versions are immutable, but their visibility changes, and an agent may get its episode later. */
const keptSeconds = 3_600

const headers = {
  'content-type': 'image/svg+xml; charset=utf-8',
  // Its style is inline. The image loads and runs nothing.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cache-control': `private, max-age=${keptSeconds}`,
}

export const pictureRoutes = [
  /** The thumbnail of a version: an episode frame, a learning curve, or an emblem. */
  route('get', '/pictures/:scope/:name/:version', { access: 'public' }, async (visit) => {
    const { data } = await visit.api.GET('/v1/packages/{scope}/{name}/versions/{version}', inPath(visit))
    const episode = data.learning_curve === null ? await sampleEpisode(visit) : null
    return new Response(pictureDocument(thumbnail(data, episode)), { headers })
  }),
]

async function sampleEpisode(visit: Visit): Promise<SampleEpisode | null> {
  try {
    const path = '/v1/packages/{scope}/{name}/versions/{version}/sample-episode'
    const { data } = await visit.api.GET(path, inPath(visit))
    return data
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'sample_episode_not_found') return null
    throw error
  }
}

function inPath({ params: { scope, name, version } }: Visit) {
  return { params: { path: { scope, name, version } } }
}
