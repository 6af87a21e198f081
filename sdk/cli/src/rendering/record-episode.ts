import { AgentGymError, type RecordedEpisode, recordedEpisodeLimits } from '@agentgym/contract'
import type { PlaySession } from '@agentgym/runtime'

/** An episode as it was played by one player, with what its pictures are called. */
export type Recording = {
  player: string
  episode: RecordedEpisode
  metrics: Record<string, number>
  /** SHA-256 (hex) of its trajectory. */
  trajectoryHash: string
}

/** Plays a held-out episode to its end. Throws `config_invalid` for one that is longer than pictures may be. */
export async function recordEpisode(session: PlaySession, number: number, player: string): Promise<Recording> {
  await session.begin(number)
  for (let steps = 0; steps < recordedEpisodeLimits.steps; steps++) {
    const { end, metrics, digest } = await session.step()
    if (end !== null) return { player, episode: session.episode, metrics, trajectoryHash: digest ?? '' }
  }
  throw new AgentGymError({
    code: 'config_invalid',
    message: `episode ${number} has more than ${recordedEpisodeLimits.steps} steps`,
    hint: 'Choose another one with --episode.',
    data: { field: 'episode' },
  })
}
