import { setTimeout as sleep } from 'node:timers/promises'
import { publishPackage, versionPath } from '@agentgym/client'
import { AgentGymError, type VersionDetails, versionDetailsSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { callApi, clientOf, explained } from '../registry/registry-api.ts'
import type { PackedPackage } from './packed-package.ts'

export type UploadOptions = {
  tag?: string
  private?: boolean
  onProgress?: (sentBytes: number, totalBytes: number) => void
}

export type Upload = {
  /** Address of the package's page. */
  url: string
  /** These very bytes had been uploaded and checked before. */
  decided: boolean
}

/** Below this an upload is over before a bar could be read. */
const streamedBytes = 256 * 1024
const firstPauseMs = 300
const longestPauseMs = 2_000

/**
 * Uploads a packed package. Doing it again with the same bytes is no error: whoever was cut off goes on where they were.
 * Throws the server's errors, `version_exists` for other bytes under a spent number.
 */
export async function uploadPackage(
  connection: Connection,
  packed: PackedPackage,
  options: UploadOptions,
): Promise<Upload> {
  const { name, version, bytes } = packed
  const { url, state } = await explained(connection, () =>
    publishPackage(clientOf(connection), {
      name,
      version,
      tarball: bytes,
      tag: options.tag,
      visibility: options.private ? 'private' : undefined,
      onProgress: bytes.length > streamedBytes ? options.onProgress : undefined,
    }),
  )
  return { url, decided: state !== 'checking' }
}

/** Waits until the server's checks of a version are through. `onWait` is called before each question. */
export async function waitForChecks(
  connection: Connection,
  { name, version }: { name: string; version: string },
  options: { signal: AbortSignal; onWait?: (seconds: number) => void },
): Promise<VersionDetails> {
  const started = performance.now()
  let pauseMs = firstPauseMs
  for (;;) {
    const answer = await readPatiently(connection, name, version)
    if (answer !== undefined && answer.state !== 'checking') return answer
    options.onWait?.((performance.now() - started) / 1000)
    await sleep(pauseMs, undefined, { signal: options.signal })
    pauseMs = Math.min(pauseMs * 1.3, longestPauseMs)
  }
}

export function readVersion(connection: Connection, name: string, version: string): Promise<VersionDetails> {
  return callApi(connection, { path: versionPath(name, version), answer: versionDetailsSchema })
}

/** A server that restarts while it checks is no reason to give up; undefined says nothing was heard. */
async function readPatiently(
  connection: Connection,
  name: string,
  version: string,
): Promise<VersionDetails | undefined> {
  try {
    return await readVersion(connection, name, version)
  } catch (error) {
    if (error instanceof AgentGymError && (error.code === 'server_unreachable' || error.code === 'rate_limited'))
      return undefined
    throw error
  }
}
