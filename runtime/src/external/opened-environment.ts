import { sha256 } from '@agentgym/agent/engine'
import type { AgentEnvironment, ScenarioManifest, SuccessCriteria } from '@agentgym/contract'
import type { OpenedFrame } from '@agentgym/contract/protocols'
import type { ScenarioDescription, ScenarioIdentity } from '../sandbox/vector-environment.ts'
import type { EnvironmentTarget } from './environment-target.ts'
import type { ExternalEndpoint, ExternalSource } from './external-source.ts'
import { describeOpenEnv } from './openenv-mapping.ts'
import { ProcessSocket } from './process-socket.ts'
import { type PythonServer, startPythonServer } from './python-server.ts'
import { describeSpaces } from './space-sizes.ts'
import { openVector } from './vector-session.ts'

/** What a run needs to know of what it trains on, be it a scenario or an environment of the user's. */
export type RunSubject = {
  package: {
    name: string
    version: string
    agentgym: Pick<ScenarioManifest, 'title' | 'summary' | 'success' | 'training'>
  }
  hash: string
}

/** An environment of the user's, ready to be trained on or evaluated on until it is closed. */
export type OpenedEnvironment = RunSubject & {
  external: ExternalSource
  /** For agent.json. */
  environment: AgentEnvironment
  close(): Promise<void>
}

export type OpenEnvironmentOptions = {
  target: EnvironmentTarget
  /** What training must reach; none by default. */
  success?: SuccessCriteria
  /** Milliseconds for each answer of the process. */
  timeoutMs?: number
  /** Environments of an evaluation, beside those of training. */
  evaluationEnvironments?: number
  /** Keyword arguments of what makes an environment of Gymnasium. */
  arguments?: AgentEnvironment['arguments']
  /** What a server asks for; a Python process that is started here needs none. */
  key?: string
  /** The interpreter for Gymnasium. */
  python?: string
  /** Takes what a started process prints. */
  onOutput?: (text: string) => void
}

type Described = {
  endpoint: ExternalEndpoint
  /** As its process names it. */
  name: string
  version: string
  versions: Record<string, string>
  description: ScenarioDescription
}

const DEFAULT_TIMEOUT_MS = 60_000
const EVALUATION_ENVIRONMENTS = 16

/**
 * Starts or reaches the environment and asks what it is. Throws `setup_incomplete`, `environment_unreachable`,
 * `environment_invalid` where its spaces cannot be trained on, and what its process reports.
 */
export async function openEnvironmentTarget(options: OpenEnvironmentOptions): Promise<OpenedEnvironment> {
  const { target, success = {}, timeoutMs = DEFAULT_TIMEOUT_MS, python = 'python3', onOutput } = options
  const child = isPython(target)
    ? await startPythonServer({
        ...{ target: `${target.kind}:${target.id}`, python, timeoutMs, onOutput },
        arguments: options.arguments,
      })
    : null
  try {
    const { endpoint, description, ...described } = await describe(target, child, options)
    const id = isPython(target) ? target.id : described.name
    const name = `${target.kind}:${id}`
    const environment: AgentEnvironment = {
      ...{ kind: target.kind, id, versions: described.versions },
      ...(options.arguments === undefined ? {} : { arguments: options.arguments }),
    }
    const hash = sha256(JSON.stringify({ environment, version: described.version, description }))
    const identity = { name, version: described.version, hash }
    const { evaluationEnvironments = EVALUATION_ENVIRONMENTS } = options
    return {
      package: {
        ...{ name, version: described.version },
        agentgym: { title: id, summary: summaryOf(target), success, training: {} },
      },
      ...{ hash, environment },
      external: { identity, description, endpoint, timeoutMs, evaluationEnvironments },
      close: async () => child?.close(),
    }
  } catch (error) {
    await child?.close()
    throw error
  }
}

function isPython(target: EnvironmentTarget): target is Extract<EnvironmentTarget, { id: string }> {
  return 'id' in target
}

function summaryOf({ kind }: EnvironmentTarget): string {
  if (kind === 'python')
    return 'An environment of Gymnasium, made by a function of its trainer and played by a Python process.'
  if (kind === 'gymnasium') return 'An environment of Gymnasium, played by a Python process.'
  return kind === 'openenv'
    ? 'An environment of an OpenEnv server.'
    : 'An environment of a server of the vector protocol.'
}

async function describe(
  target: EnvironmentTarget,
  child: PythonServer | null,
  { timeoutMs = DEFAULT_TIMEOUT_MS, key }: Pick<OpenEnvironmentOptions, 'timeoutMs' | 'key'>,
): Promise<Described> {
  const identity = { name: nameOf(target), version: 'unknown', hash: '' }
  const given = key === undefined || child !== null ? {} : { key }
  if (target.kind === 'openenv') return describeOpenEnv({ url: target.url, ...given }, identity, timeoutMs)
  if (target.kind !== 'vector')
    return describeVector({ protocol: 'vector', url: child?.url ?? '' }, identity, timeoutMs)
  const { url, scenario } = target
  const named = scenario === undefined ? {} : { scenario }
  return describeVector({ protocol: 'vector', url, ...named, ...given }, identity, timeoutMs)
}

function nameOf(target: EnvironmentTarget): string {
  return isPython(target) ? `${target.kind}:${target.id}` : target.url
}

async function describeVector(
  endpoint: Extract<ExternalEndpoint, { protocol: 'vector' }>,
  identity: ScenarioIdentity,
  timeoutMs: number,
): Promise<Described> {
  const socket = await ProcessSocket.connect(endpoint, identity, timeoutMs)
  try {
    const opened = await openVector(socket, identity, {
      ...(endpoint.scenario === undefined ? {} : { scenario: endpoint.scenario }),
      environments: 1,
    })
    return {
      ...{ endpoint, name: opened.name },
      ...versionsOf(opened),
      description: describeSpaces(identity, opened.spaces, { maxSteps: opened.max_steps, masked: opened.mask > 0 }),
    }
  } finally {
    socket.close()
  }
}

/** `gymnasium 1.4.0` is the version of gymnasium, and a version alone that of the environment. */
function versionsOf({ name, version }: OpenedFrame): Pick<Described, 'version' | 'versions'> {
  const [, source = name, number = version] = /^(\S+) (\S+)$/.exec(version) ?? []
  return { version: number, versions: { [source]: number } }
}
