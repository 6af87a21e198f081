import { AgentGymError, type ListedPackage } from '@agentgym/contract'
import type { Visit } from '../../app/visit.ts'

/** Public packages whose names are near to what the path asks for; none where that says nothing. */
export async function nearNames({ api, url }: Visit): Promise<ListedPackage[]> {
  const words = decoded(url.pathname)
    .split('/')
    .filter((part) => part !== '' && part !== 'packages')
    .join(' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 60)
  if (words === '') return []
  // All words, then the one that is most likely the package's own.
  for (const q of new Set([words, words.split(' ').slice(-1)[0], words.slice(0, 4)])) {
    const found = await search(api, q)
    if (found.length > 0) return found
  }
  return []
}

async function search(api: Visit['api'], q: string): Promise<ListedPackage[]> {
  try {
    const { data } = await api.GET('/v1/packages', { params: { query: { q, limit: 5 } } })
    return data?.packages ?? []
  } catch (error) {
    // The page that says that nothing is here must not fail for want of suggestions.
    if (error instanceof AgentGymError) return []
    throw error
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
