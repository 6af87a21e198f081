import { AgentGymError } from '@agentgym/contract'
import {
  CONTAINER_DATA,
  CONTAINER_PORT,
  CONTAINER_USER,
  type DeployedAgent,
  nameForMachines,
} from './deployment-folder.ts'
import { type ProgramResult, runProgram } from './run-program.ts'
import { deploymentFailed, type SampleCall, tryDeployment } from './try-deployment.ts'

export type ContainerOptions = {
  /** `docker` or `podman`. */
  engine: string
  /** What the image is built from. */
  folder: string
  image: string
  port: number
  key: string
  environment: Readonly<Record<string, string | undefined>>
}

/** The image of an agent, if none is named. */
export function imageOf(agent: DeployedAgent): string {
  return `agentgym/${nameForMachines(agent)}:${agent.version ?? 'local'}`
}

type Build = Pick<ContainerOptions, 'engine' | 'folder' | 'image' | 'environment'>

/** Builds the image of an agent from its folder. */
export async function buildImage({ engine, folder, image, environment }: Build): Promise<void> {
  const parameters = ['build', '--tag', image, folder]
  await succeed(engine, parameters, await runProgram(engine, parameters, { environment }))
}

/** Pushes an image to the registry that its name says. */
export async function pushImage({ engine, image, environment }: Omit<Build, 'folder'>): Promise<void> {
  await succeed(engine, ['push', image], await runProgram(engine, ['push', image], { environment }))
}

/** Starts a container that only this machine reaches, asks it for a decision, and removes it again if that fails. */
export async function runContainer(
  agent: DeployedAgent,
  { engine, image, port, key, environment }: Omit<ContainerOptions, 'folder'>,
): Promise<{ url: string; container: string; sample: SampleCall }> {
  const container = `agentgym-${nameForMachines(agent)}`
  const own = { environment: { ...environment, AGENTGYM_AGENT_KEY: key } }
  const call = (parameters: string[]) => runProgram(engine, parameters, own)
  // One of the same name is of an earlier deployment of this agent.
  await call(['rm', '--force', container])
  const run = [
    ...['run', '--detach', '--name', container, '--publish', `127.0.0.1:${port}:${CONTAINER_PORT}`],
    ...['--env', 'AGENTGYM_AGENT_KEY', '--restart', 'unless-stopped'],
    ...['--read-only', '--tmpfs', `${CONTAINER_DATA}:uid=${CONTAINER_USER},mode=0700,size=64m`],
    ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--memory', '512m', image],
  ]
  await succeed(engine, run, await call(run))
  try {
    const url = `http://127.0.0.1:${await publishedPort(call, engine, container)}`
    const isRunning = async () => {
      const { output } = await call(['inspect', '--format', '{{.State.Running}}', container])
      return output.trim() === 'true' ? null : (await call(['logs', '--tail', '20', container])).output
    }
    const sample = await tryDeployment(agent, { url, key }, isRunning)
    return { url, container, sample }
  } catch (error) {
    await call(['rm', '--force', container])
    throw error
  }
}

/** The engine chooses it where port 0 was asked for. */
async function publishedPort(
  call: (parameters: string[]) => Promise<ProgramResult>,
  engine: string,
  container: string,
): Promise<number> {
  const parameters = ['port', container, `${CONTAINER_PORT}/tcp`]
  const result = await call(parameters)
  await succeed(engine, parameters, result)
  const port = /:(\d+)\s*$/m.exec(result.output)?.[1]
  if (port === undefined) throw deploymentFailed(`has no address: ${engine} port says ${result.output.slice(0, 200)}`)
  return Number(port)
}

/** Throws `deployment_failed` with the end of what the program said. */
export async function succeed(
  program: string,
  parameters: readonly string[],
  { status, output }: ProgramResult,
): Promise<void> {
  if (status === 0) return
  throw new AgentGymError({
    code: 'deployment_failed',
    message: `${program} ${parameters[0]} failed (exit ${status}): ${output.trim().slice(-2_000)}`,
    hint: `Run it yourself to see all of it: ${program} ${parameters.join(' ')}`,
    data: { program, status },
  })
}
