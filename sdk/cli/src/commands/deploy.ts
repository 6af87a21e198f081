import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parsePackageTarget } from '@agentgym/agent/packages'
import { AgentGymError, namingFile } from '@agentgym/contract'
import { type Command, Option } from 'commander'
import { agentGymHome } from '../account/connection.ts'
import { writePrivateFile } from '../account/write-private-file.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { buildImage, imageOf, pushImage, runContainer } from '../deploying/deploy-container.ts'
import { applyToCluster } from '../deploying/deploy-kubernetes.ts'
import { deployLocally, stopLocal } from '../deploying/deploy-local.ts'
import {
  BASE_IMAGE,
  CONTAINER_PORT,
  containerMachine,
  type DeployedAgent,
  imageReference,
  nameForMachines,
  writeDeployment,
} from '../deploying/deployment-folder.ts'
import { kubernetesManifests, secretName } from '../deploying/kubernetes-manifests.ts'
import { findProgram } from '../deploying/run-program.ts'
import type { SampleCall } from '../deploying/try-deployment.ts'
import { countRange, portRange, wholeNumber } from '../option-values.ts'
import { fitText, safeText, shellQuote } from '../terminal/text.ts'
import { obtainDeployedAgent, writeOnnx } from './agent-export.ts'

const targets = ['local', 'docker', 'kubernetes', 'onnx'] as const

export type DeployFlags = {
  to: (typeof targets)[number]
  port: number
  image?: string
  baseImage: string
  namespace: string
  replicas: number
  out?: string
  writeOnly?: boolean
  build: boolean
  stop?: boolean
}

export function addDeployCommand(program: Command, action: MakeAction): void {
  program
    .command('deploy')
    .argument('<AGENT>', 'agent folder, name in ./agents, run ID or @scope/name[@range]')
    .description('run an agent as a service: start it, ask it for one decision, and print its address')
    .addOption(
      new Option(
        '--to <TARGET>',
        'local: a process on this machine; docker: a container, by docker or podman; kubernetes: the cluster of kubectl; onnx: a folder with the model for other runtimes',
      )
        .choices(targets)
        .default('local'),
    )
    .option('--port <N>', 'port on this machine; 0 for any that is free', wholeNumber('port', portRange), 4480)
    .option('--image <REF>', 'image to build (docker), or to build and push (kubernetes)')
    .option(
      '--base-image <REF>',
      'image with Node.js 24 to build on, such as NAME@sha256:DIGEST',
      imageReference,
      BASE_IMAGE,
    )
    .option('--no-build', 'use an image that exists (kubernetes)')
    .option('--namespace <NAME>', 'namespace of the cluster', 'default')
    .option('--replicas <N>', 'pods of the cluster', wholeNumber('replicas', countRange), 2)
    .option('--out <DIR>', 'folder for what is written (--write-only, --to onnx)')
    .option('--write-only', 'write build context and manifests, and start nothing')
    .option('--stop', 'stop the local deployment of the agent')
    .action(action(deploy))
}

/** `agentgym deploy`: an agent as a service. */
export async function deploy(target: string, flags: DeployFlags, context: CommandContext): Promise<void> {
  if (flags.stop) return await stop(target, context)
  const agent = await obtainDeployedAgent(target, context)
  const place = placeOf(agent, context)
  if (flags.to === 'onnx') return await deployOnnx(agent, flags, context)
  if (flags.writeOnly) return await writeOnly(agent, flags, context)
  await namingFile(place, () => mkdir(place, { recursive: true, mode: 0o700 }))
  if (flags.to === 'local') return await toLocal(agent, place, flags, context)
  if (flags.to === 'docker') return await toContainer(agent, place, flags, context)
  return await toCluster(agent, place, flags, context)
}

async function toLocal(agent: DeployedAgent, place: string, flags: DeployFlags, context: CommandContext) {
  const key = context.io.environment.AGENTGYM_AGENT_KEY?.trim() || undefined
  const { deployment, sample, log } = await deployLocally(agent, { place, port: flags.port, key })
  const { url, pid } = deployment
  context.printJson({ target: 'local', name: agent.name, version: agent.version, url, pid, log, sample })
  announce(agent, { url, sample }, context)
  const { symbols, paint } = context.terminal
  const again = `agentgym deploy ${shellQuote(agent.name)} --stop`
  context.print(`${symbols.next} It keeps running (process ${pid}); its log is ${safeText(context.displayPath(log))}`)
  context.print(`${symbols.next} Stop it: ${paint.accent(again)}`)
}

/** An agent that is no longer on this machine can be stopped by its name. */
async function stop(target: string, context: CommandContext): Promise<void> {
  const isFolder = existsSync(join(context.resolve(target), 'agent.json'))
  const name = isFolder
    ? (await obtainDeployedAgent(target, context)).name
    : (parsePackageTarget(target)?.name ?? target)
  const stopped = await stopLocal(placeOf({ name }, context))
  context.printJson({ stopped: stopped !== null, name, url: stopped?.url ?? null })
  const { symbols, paint } = context.terminal
  if (stopped === null) return context.print(`${symbols.next} ${safeText(name)} has no local deployment.`)
  context.print(`${paint.accent(symbols.ok)} Stopped ${paint.bold(safeText(name))}, which listened on ${stopped.url}`)
}

/** Where a deployment is kept. */
function placeOf(agent: Pick<DeployedAgent, 'name'>, { io }: CommandContext): string {
  return join(agentGymHome(io), 'deployments', nameForMachines(agent))
}

async function toContainer(agent: DeployedAgent, place: string, flags: DeployFlags, context: CommandContext) {
  const engine = await requireProgram(['docker', 'podman'], context)
  const folder = join(place, 'image')
  const image = flags.image ?? imageOf(agent)
  const own = { engine, folder, image, environment: context.io.environment }
  const key = await obtainKey(place, context)
  await writeDeployment(folder, agent, containerMachine, flags.baseImage)
  context.print(`${context.terminal.symbols.next} Building ${safeText(image)} with ${engine}`)
  await buildImage(own)
  const { url, container, sample } = await runContainer(agent, { ...own, port: flags.port, key: key.value })
  context.printJson({ target: 'docker', name: agent.name, version: agent.version, url, image, container, sample })
  announce(agent, { url, sample }, context)
  const { symbols, paint } = context.terminal
  context.print(`${symbols.next} API key of clients: ${safeText(key.source)}`)
  context.print(`${symbols.next} Stop it: ${paint.accent(`${engine} rm --force ${container}`)}`)
}

async function toCluster(agent: DeployedAgent, place: string, flags: DeployFlags, context: CommandContext) {
  const { image } = flags
  if (image === undefined) throw imageMissing()
  await requireProgram(['kubectl'], context)
  const { environment } = context.io
  const { symbols, paint } = context.terminal
  if (flags.build) {
    const engine = await requireProgram(['docker', 'podman'], context)
    const folder = join(place, 'image')
    await writeDeployment(folder, agent, containerMachine, flags.baseImage)
    context.print(`${symbols.next} Building and pushing ${safeText(image)} with ${engine}`)
    await buildImage({ engine, folder, image, environment })
    await pushImage({ engine, image, environment })
  }
  const { namespace, replicas } = flags
  const manifests = kubernetesManifests(agent, { image, namespace, replicas })
  const { url, sample } = await applyToCluster(agent, { manifests, namespace, environment })
  context.printJson({ target: 'kubernetes', name: agent.name, version: agent.version, url, image, namespace, sample })
  announce(agent, { url, sample }, context)
  const secret = `kubectl --namespace ${namespace} get secret ${secretName(agent)} --output jsonpath={.data.key} | base64 -d`
  context.print(`${symbols.next} API key of clients: ${paint.accent(secret)}`)
}

/** What a person, or a pipeline, builds and applies without this command. */
async function writeOnly(agent: DeployedAgent, flags: DeployFlags, context: CommandContext): Promise<void> {
  const out = context.resolve(flags.out ?? join('deploy', nameForMachines(agent)))
  const cluster = flags.to === 'kubernetes'
  if (cluster && flags.image === undefined) throw imageMissing()
  const machine = flags.to === 'local' ? localMachine : containerMachine
  const folder = join(out, 'server')
  await writeDeployment(folder, agent, machine, flags.baseImage)
  const manifests = join(out, 'kubernetes.yaml')
  if (cluster && flags.image !== undefined) {
    const { image, namespace, replicas } = flags
    await namingFile(manifests, () => writeFile(manifests, kubernetesManifests(agent, { image, namespace, replicas })))
  }
  const image = flags.image ?? imageOf(agent)
  const shown = shellQuote(context.displayPath(folder))
  const commands = {
    local: [`node ${shown}/server.mjs`],
    docker: [
      `docker build --tag ${shellQuote(image)} ${shown}`,
      `docker run --publish 127.0.0.1:${CONTAINER_PORT}:${CONTAINER_PORT} --env AGENTGYM_AGENT_KEY --read-only ${shellQuote(image)}`,
    ],
    kubernetes: [
      `docker build --tag ${shellQuote(image)} ${shown} && docker push ${shellQuote(image)}`,
      `printf %s "$AGENTGYM_AGENT_KEY" | kubectl --namespace ${flags.namespace} create secret generic ${secretName(agent)} --from-file=key=/dev/stdin`,
      `kubectl apply --filename ${shellQuote(context.displayPath(manifests))}`,
    ],
  }[flags.to as Exclude<DeployFlags['to'], 'onnx'>]
  context.printJson({ target: flags.to, name: agent.name, version: agent.version, folder: out, commands })
  const { symbols, paint } = context.terminal
  context.print(`${paint.accent(symbols.ok)} Wrote ${safeText(context.displayPath(out))}; nothing was started`)
  for (const command of commands) context.print(`${symbols.next} ${paint.accent(command)}`)
}

/** `--to onnx`: the same as `agentgym agent export --to onnx`. */
async function deployOnnx(agent: DeployedAgent, flags: DeployFlags, context: CommandContext): Promise<void> {
  await writeOnnx(agent, context.resolve(flags.out ?? join('deploy', `${nameForMachines(agent)}-onnx`)), context)
}

function announce(agent: DeployedAgent, { url, sample }: { url: string; sample: SampleCall }, context: CommandContext) {
  const { symbols, paint } = context.terminal
  const label = agent.version === null ? agent.name : `${agent.name}@${agent.version}`
  context.print(`${paint.accent(symbols.ok)} ${paint.bold(safeText(label, 240))} serves at ${paint.accent(url)}`)
  const chosen = sample.label ?? JSON.stringify(sample.action)
  const asked = fitText(JSON.stringify(sample.observation), 60)
  const took = `${sample.milliseconds.toFixed(1)} ms`
  context.print(`${paint.accent(symbols.ok)} Sample call: ${safeText(asked)} → ${safeText(chosen, 80)}, ${took}`)
  context.print(`${symbols.next} OpenAI-compatible: ${url}/v1; decisions: POST ${url}/act`)
}

const localMachine = { platform: process.platform, processors: [process.arch] }

/** The key that clients of a container send: the one in the environment, or one that is made once and kept. */
async function obtainKey(place: string, { io }: CommandContext): Promise<{ value: string; source: string }> {
  const given = io.environment.AGENTGYM_AGENT_KEY?.trim()
  if (given) return { value: given, source: 'the AGENTGYM_AGENT_KEY of this shell' }
  const file = join(place, 'key')
  const kept = await readFile(file, 'utf8').catch(() => '')
  const value = kept.trim() || randomBytes(32).toString('base64url')
  if (kept.trim() !== value) await writePrivateFile(file, `${value}\n`, 0o600)
  return { value, source: `in ${file}` }
}

async function requireProgram(names: readonly string[], { io }: CommandContext): Promise<string> {
  const found = await findProgram(names, io.environment)
  if (found !== undefined) return found
  throw new AgentGymError({
    code: 'deployment_failed',
    message: `the command ${names.join(' or ')} is not on the PATH`,
    hint: 'Install it, or add --write-only, which writes what it would build and apply.',
    data: { programs: [...names] },
  })
}

function imageMissing(): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: '--to kubernetes needs --image, the name that your cluster pulls the image by',
    hint: 'Such as --image registry.example.com/team/support:1.0.0.',
  })
}
