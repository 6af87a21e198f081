import type { SampleEpisode } from '@agentgym/contract'
import { lastStep } from '@agentgym/pictures'

const pending = new Map<string, Promise<SampleEpisode>>()

/** A version's sample episode from the API, requested once a page unless it failed. */
export function fetchEpisode(address: string): Promise<SampleEpisode> {
  const known = pending.get(address)
  if (known !== undefined) return known
  const episode = requestEpisode(address)
  pending.set(address, episode)
  episode.catch(() => pending.delete(address))
  return episode
}

async function requestEpisode(address: string): Promise<SampleEpisode> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`status ${response.status}`)
  const episode: SampleEpisode = await response.json()
  if (lastStep(episode) < 1) throw new Error('an episode without a step')
  return episode
}
