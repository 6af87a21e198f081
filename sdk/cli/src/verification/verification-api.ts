import { versionPath } from '@agentgym/client'
import { type Leaderboard, leaderboardSchema, type SigningKeys, signingKeysSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { callApi } from '../registry/registry-api.ts'

export function readSigningKeys(connection: Connection): Promise<SigningKeys> {
  return callApi(connection, { path: '/v1/keys', answer: signingKeysSchema })
}

/** Verified agents of one scenario version, best first. */
export function readLeaderboard(
  connection: Connection,
  { name, version }: { name: string; version: string },
  page: { limit?: number; cursor?: string } = {},
): Promise<Leaderboard> {
  return callApi(connection, {
    path: `${versionPath(name, version)}/leaderboard`,
    query: page,
    answer: leaderboardSchema,
  })
}
