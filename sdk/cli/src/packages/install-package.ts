import { findStored, lockPackage, type PackageTarget, storePackage, tarballUrl } from '@agentgym/agent/packages'
import { downloadPackage } from '@agentgym/client'
import { AgentGymError } from '@agentgym/contract'
import { agentGymHome, type Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { clientOf, explained, outlastingOutage } from '../registry/call-api.ts'
import { resolvePackage } from '../registry/package-target.ts'

export type InstalledPackage = {
  name: string
  version: string
  /** What was asked for. */
  range: string
  resolved: string
  integrity: string
  folder: string
  /** Found on this machine; nothing was downloaded. */
  cached: boolean
  deprecated: string | null
  yanked: boolean
}

/** Bytes so far, and the total if the server sends it (else null). */
export type DownloadProgress = (bytes: number, total: number | null) => void

export type InstallOptions = {
  /** The integrity that the lock file requires. */
  locked?: string
  /** The range to keep in the lock file. */
  lockedRange?: string
  /** False leaves the lock file of the working folder unchanged. */
  lock?: boolean
  onProgress?: DownloadProgress
}

/**
 * Installs a package: resolves it, downloads it unless it is stored already, verifies its integrity and writes the lock
 * entry. Nothing of it runs.
 *
 * Throws the server's errors and `integrity_mismatch`.
 */
export async function installPackage(
  connection: Connection,
  target: PackageTarget,
  options: InstallOptions,
  { io }: CommandContext,
): Promise<InstalledPackage> {
  const home = agentGymHome(io)
  const resolved = await resolvePackage(connection, target)
  const label = `${target.name}@${resolved.version}`
  if (options.locked !== undefined && options.locked !== resolved.integrity) {
    throw mismatch(
      label,
      options.locked,
      resolved.integrity,
      'The server has a different file than agentgym.lock records.',
    )
  }
  const { version, integrity } = resolved
  const url = tarballUrl(connection.server, resolved.tarball)
  const present = await findStored(integrity, home)
  const folder =
    present ??
    (await download(connection, { what: label, tarball: url, integrity, onProgress: options.onProgress, home }))
  const range = options.lockedRange ?? target.range ?? 'latest'
  if (options.lock !== false) await lockPackage(target.name, { version, range, resolved: url, integrity }, io.cwd)
  return {
    name: target.name,
    version,
    range,
    resolved: url,
    integrity,
    folder,
    cached: present !== null,
    deprecated: resolved.deprecated,
    yanked: resolved.yanked,
  }
}

async function download(
  connection: Connection,
  request: { what: string; tarball: string; integrity: string; onProgress?: DownloadProgress; home: string },
): Promise<string> {
  const bytes = await explained(connection, () =>
    outlastingOutage(() => downloadPackage(clientOf(connection), request)),
  ).catch((error) => {
    throw withCommand(error, request.what)
  })
  return storePackage(bytes, request.integrity, request.home)
}

/** Adds the command to buy it to the data, for programs; the message has it in words. */
function withCommand(error: unknown, label: string): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'payment_required') return error
  const { code, message, hint } = error
  const data = { ...error.data, package: label, command: `agentgym buy ${label}` }
  return new AgentGymError({ code, message, hint, data }, { cause: error })
}

function mismatch(label: string, expected: string, found: string, why: string): AgentGymError {
  return new AgentGymError({
    code: 'integrity_mismatch',
    message: `${label} does not match its recorded integrity; nothing was installed`,
    hint: `${why} Try again. If it happens again, don't use the package, and contact the operator of the server.`,
    data: { package: label, expected, found },
  })
}
