import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { succeed } from './deploy-container.ts'
import { type DeployedAgent, nameForMachines } from './deployment-folder.ts'
import { secretName } from './kubernetes-manifests.ts'
import { runProgram } from './run-program.ts'
import { deploymentFailed, type SampleCall, tryDeployment } from './try-deployment.ts'

export type ClusterApply = {
  manifests: string
  namespace: string
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * Applies manifests to the cluster that kubectl is configured for, waits until the new pods serve, and asks them for a
 * decision through a forwarded port. The secret of clients is made if there is none, and never replaced.
 */
export async function applyToCluster(
  agent: DeployedAgent,
  { manifests, namespace, environment }: ClusterApply,
): Promise<{ url: string; sample: SampleCall }> {
  const name = nameForMachines(agent)
  const kubectl = async (parameters: string[], input?: string) => {
    const all = ['--namespace', namespace, ...parameters]
    const result = await runProgram('kubectl', all, { environment, input })
    await succeed('kubectl', parameters, result)
    return result.output
  }
  const key = await obtainSecret(secretName(agent), kubectl)
  await kubectl(['apply', '--filename', '-'], manifests)
  await kubectl(['rollout', 'status', `deployment/${name}`, '--timeout', '180s'])
  const sample = await throughForwardedPort(`service/${name}`, { namespace, environment }, (url) =>
    tryDeployment(agent, { url, key }),
  )
  return { url: `http://${name}.${namespace}.svc`, sample }
}

async function obtainSecret(
  name: string,
  kubectl: (parameters: string[], input?: string) => Promise<string>,
): Promise<string> {
  const read = async () =>
    (await kubectl(['get', 'secret', name, '--ignore-not-found', '--output', 'jsonpath={.data.key}'])).trim()
  const present = await read()
  if (present !== '') return Buffer.from(present, 'base64').toString()
  const key = randomBytes(32).toString('base64url')
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', stringData: { key } }
  // `create` fails where another deployment has made it in the meantime.
  await kubectl(['create', '--filename', '-'], JSON.stringify(secret))
  return key
}

async function throughForwardedPort<Result>(
  target: string,
  { namespace, environment }: Omit<ClusterApply, 'manifests'>,
  call: (url: string) => Promise<Result>,
): Promise<Result> {
  const child = spawn('kubectl', ['--namespace', namespace, 'port-forward', target, ':80'], {
    env: environment as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  try {
    let output = ''
    const port = await new Promise<string>((resolve, reject) => {
      const read = (text: string) => {
        output += text
        const found = /127\.0\.0\.1:(\d+)/.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      }
      child.stdout.setEncoding('utf8').on('data', read)
      child.stderr.setEncoding('utf8').on('data', read)
      child.once('error', reject)
      child.once('exit', () =>
        reject(deploymentFailed(`cannot be reached by kubectl port-forward: ${output.slice(-500)}`)),
      )
    })
    return await call(`http://127.0.0.1:${port}`)
  } finally {
    child.kill()
    await exited
  }
}
