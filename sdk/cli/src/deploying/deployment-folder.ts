import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Agent } from '@agentgym/agent'
import { encoderFile, encoderFolder, encoderSources, obtainEncoder } from '@agentgym/agent/engine'
import { AgentGymError, type AgentManifest } from '@agentgym/contract'
import { bundleServer, type Machine } from './bundle-server.ts'
import { replaceFolder } from './replace-folder.ts'

export type DeployedAgent = {
  /** Where its files are. */
  folder: string
  agent: Agent
  manifest: AgentManifest
  name: string
  version: string | null
}

/** Node of the images, which is the one that AgentGym is tested with, unless another image is named by its digest. */
export const BASE_IMAGE = 'node:24.21.0-bookworm-slim'
/** Containers run on either processor. */
export const containerMachine: Machine = { platform: 'linux', processors: ['arm64', 'x64'] }

/** Port in a container. */
export const CONTAINER_PORT = 4480
/** A user of the container that owns nothing. */
export const CONTAINER_USER = 10_001

/** The only folder that a container writes to: episodes of agents with memory, for clients of MCP. */
export const CONTAINER_DATA = '/data'

/** What of an agent's package its server reads, and what says who may use it. */
const agentFiles = /^(agent\.json|model\.onnx|package\.json|README\.md|LICENSE.*)$/i

/**
 * Writes everything that serves an agent into a folder, which is also the build context of its image. The same agent and the
 * same version of this command give the same bytes. The folder appears whole: one that was there before is replaced.
 */
export async function writeDeployment(
  folder: string,
  agent: DeployedAgent,
  machine: Machine,
  baseImage = BASE_IMAGE,
): Promise<void> {
  await replaceFolder(folder, 'server.mjs', async (unfinished) => {
    await bundleServer(unfinished, machine)
    await copyAgent(join(unfinished, 'agents', nameForMachines(agent)), agent.folder)
    await copyEncoders(unfinished, agent.manifest)
    await writeFile(join(unfinished, 'Dockerfile'), dockerfile(machine, baseImage))
  })
}

/** The name of an agent as images, containers and Kubernetes take names: `@ann/support` is `ann-support`. */
export function nameForMachines({ name }: Pick<DeployedAgent, 'name'>): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  // A name of Kubernetes' services begins with a letter and has at most 63 characters.
  return /^[a-z]/.test(plain) ? plain.slice(0, 50).replace(/-+$/, '') : `agent-${plain.slice(0, 44)}`.replace(/-+$/, '')
}

async function copyAgent(to: string, from: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const file of (await readdir(from)).filter((name) => agentFiles.test(name)).sort()) {
    await copyFile(join(from, file), join(to, file))
  }
}

/** Models of the sentence encoders that the agent reads its texts with, where the server looks for them. */
async function copyEncoders(folder: string, { policy }: AgentManifest): Promise<void> {
  const names = new Set(policy.observation.flatMap(({ encoder }) => (encoder === undefined ? [] : [encoder.name])))
  const sources = dirname(fileURLToPath(import.meta.resolve('@agentgym/agent/deployed')))
  for (const name of names) {
    await obtainEncoder(name)
    await mkdir(join(folder, 'encoders'), { recursive: true })
    await copyFile(encoderFile(name, encoderFolder()), encoderFile(name, join(folder, 'encoders')))
    const { vocabularyFile } = encoderSources[name]
    await copyFile(join(sources, '../texts', vocabularyFile), join(folder, basename(vocabularyFile)))
  }
}

function dockerfile({ processors }: Machine, baseImage: string): string {
  return containerFile({
    comment: `Serves the agent in ./agents on port ${CONTAINER_PORT}. Nothing is downloaded but the base image.
# Processors: ${processors.join(', ')}. AGENTGYM_AGENT_KEY is the API key that clients send; without it the server does not start.`,
    ...{ baseImage, source: '.', port: CONTAINER_PORT, health: '/healthz' },
    variables: { AGENTGYM_ENCODERS: '/app/encoders', AGENTGYM_HOME: CONTAINER_DATA },
  })
}

export type ContainerFile = {
  /** Lines of a comment, but for the first `#`. */
  comment: string
  baseImage: string
  /** Folder of the build context with `server.mjs`. */
  source: string
  port: number
  /** Path that answers 200 once it serves. */
  health: string
  variables: Record<string, string>
}

/** The Dockerfile of a server that runs with nothing but Node, as a user that owns nothing. */
export function containerFile({ comment, baseImage, source, port, health, variables }: ContainerFile): string {
  const environment = Object.entries({ HOST: '0.0.0.0', PORT: String(port), ...variables, NODE_ENV: 'production' })
  return `# ${comment}
FROM ${baseImage}
WORKDIR /app
COPY ${source} .
ENV ${environment.map(([name, value]) => `${name}=${value}`).join(' ')}
USER ${CONTAINER_USER}
EXPOSE ${port}
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \\
  CMD ["node", "-e", "fetch('http://127.0.0.1:${port}${health}').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "server.mjs"]
`
}

/** Parses `--base-image`, which becomes a line of a Dockerfile. Throws `config_invalid`. */
export function imageReference(text: string): string {
  if (/^[a-z0-9][\w./:-]{0,300}(@sha256:[0-9a-f]{64})?$/.test(text)) return text
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--base-image is ${JSON.stringify(text.slice(0, 100))}, which names no image`,
    hint: `Give a name with a tag or a digest, such as ${BASE_IMAGE} or node@sha256: and 64 hexadecimal digits.`,
    data: { field: 'base-image', value: text.slice(0, 100) },
  })
}
