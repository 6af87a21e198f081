import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { downloadPackage } from '@agentgym/client'
import { AgentGymError, parseJson } from '@agentgym/contract'
import { z } from 'zod'
import { Agent, type AgentTypes } from './agent.ts'
import { agentGymHome, ownSurroundings, type Surroundings } from './home.ts'
import { type Connection, clientOf, findConnection } from './packages/connection.ts'
import { findLocked } from './packages/lock-file.ts'
import { findStored, storePackage } from './packages/package-store.ts'
import { type PackageTarget, parsePackageTarget } from './packages/package-target.ts'
import { resolveVersion, tarballUrl } from './packages/resolve-version.ts'
import { recallVersion, rememberVersion } from './packages/resolved-versions.ts'
import { loadModel } from './policy/model-session.ts'
import { checkPolicySpaces } from './policy/policy-leaves.ts'
import { readAgentWithModel } from './read-agent.ts'
import { obtainEncoder } from './texts/obtain-encoder.ts'
import { obtainEncoders, TextVectors } from './texts/text-vectors.ts'

export type LoadOptions = {
  /** Address of the server. Default: `AGENTGYM_SERVER`, or the server of `agentgym login`, or http://localhost:4477. */
  server?: string
  /** Default: `AGENTGYM_TOKEN`, or the token of `agentgym login` at that server. Public, free agents need none. */
  token?: string
  /** True never asks the server: what is on this machine is used. */
  offline?: boolean
  /** Bytes of the download so far, and of all if the server says (else null). */
  onProgress?: (bytes: number, total: number | null) => void
  /** Of the random numbers of actions that are sampled (`deterministic: false`). Default: 0. */
  seed?: number
}

const packageSchema = z.object({ name: z.string(), version: z.string() })

/**
 * Loads an agent: a folder that `agentgym train` wrote, or the name of a published one, such as `@ann/support` or
 * `@ann/support@^1`. A name is resolved by `agentgym.lock` in the working folder if it has the agent, else by the server; the
 * package's integrity is verified, and it is kept on this machine for the next time. Where the server cannot be reached, the
 * newest version on this machine that fits is used.
 *
 * Throws `file_not_found`, `agent_invalid`, `package_not_found`, `payment_required` for an agent that has to be bought,
 * `integrity_mismatch`, `server_unreachable` and the codes `model_…`.
 */
export async function loadAgent<Types extends AgentTypes = AgentTypes>(
  source: string,
  options: LoadOptions = {},
): Promise<Agent<Types>> {
  const target = parsePackageTarget(source)
  const folder = target === undefined ? source : await obtainPackage(target, options)
  const { manifest, checkedModel } = await readAgentWithModel(folder)
  checkPolicySpaces(manifest.policy, manifest.scenario)
  const encoders = await obtainEncoders(manifest.policy, obtainEncoder)
  const model = loadModel(checkedModel, manifest.policy, { walk: false })
  const own = packageSchema.safeParse(parseJson(await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')))
  return new Agent<Types>({
    manifest,
    model,
    vectors: new TextVectors(encoders),
    package: own.data,
    seed: options.seed,
  })
}

/** The folder of a published package on this machine. */
async function obtainPackage(target: PackageTarget, options: LoadOptions): Promise<string> {
  const surroundings = ownSurroundings()
  const locked = await findLocked(target, surroundings)
  if (locked?.folder) return locked.folder
  const wanted = locked === undefined ? target : { name: locked.name, range: locked.version }
  const found = await findConnection(surroundings, options.server)
  const connection = options.token === undefined ? found : { ...found, token: options.token }
  if (options.offline) return recall(wanted, connection, surroundings)
  try {
    return await download(wanted, connection, surroundings, { ...options, integrity: locked?.integrity })
  } catch (error) {
    if (!isUnreachable(error)) throw error
    return await recall(wanted, connection, surroundings, error)
  }
}

/** `integrity` is what the lock file says of the version, if it has it; what the server says is not believed then. */
async function download(
  target: PackageTarget,
  connection: Connection,
  surroundings: Surroundings,
  { onProgress, integrity: locked }: LoadOptions & { integrity: string | undefined },
): Promise<string> {
  const home = agentGymHome(surroundings)
  const client = clientOf(connection)
  const { version, tarball, ...resolved } = await resolveVersion(client, target)
  const integrity = locked ?? resolved.integrity
  const place = { server: connection.server, name: target.name, version }
  const stored = await findStored(integrity, home)
  if (stored !== null) {
    await rememberVersion(place, integrity, home)
    return stored
  }
  const request = {
    what: `${target.name}@${version}`,
    tarball: tarballUrl(connection.server, tarball),
    integrity,
    onProgress,
  }
  const folder = await storePackage(await downloadPackage(client, request), integrity, home)
  await rememberVersion(place, integrity, home)
  return folder
}

/** The newest version on this machine that fits. */
async function recall(
  target: PackageTarget,
  { server }: Connection,
  surroundings: Surroundings,
  cause?: AgentGymError,
): Promise<string> {
  const home = agentGymHome(surroundings)
  for (const integrity of await recallVersion({ server, ...target }, home)) {
    const folder = await findStored(integrity, home)
    if (folder !== null) return folder
  }
  const label = `${target.name}${target.range === undefined ? '' : `@${target.range}`}`
  throw new AgentGymError(
    {
      code: 'server_unreachable',
      message: `${label} is not on this machine${cause === undefined ? '' : `, and ${server} does not answer`}.`,
      hint: 'Load it once while the server can be reached; from then on it works offline.',
      data: { package: label, server },
    },
    { cause },
  )
}

function isUnreachable(error: unknown): error is AgentGymError {
  if (!(error instanceof AgentGymError)) return false
  return error.code === 'server_unreachable' || error.data.status === 503
}
