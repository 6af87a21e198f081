import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { AgentGymError } from '@agentgym/contract'
import { Agent } from 'undici'
import { parse } from 'yaml'
import { z } from 'zod'
import type { KubernetesAccess } from './kubernetes.ts'

const run = promisify(execFile)
const text = z.string().optional()

const clusterSchema = z.object({
  server: z.string(),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': z.boolean().optional(),
})

const userSchema = z.object({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  exec: z
    .object({
      command: z.string(),
      args: z.array(z.string()).nullish(),
      env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
    })
    .optional(),
})

const configSchema = z.object({
  'current-context': z.string(),
  contexts: z.array(
    z.object({ name: z.string(), context: z.object({ cluster: z.string(), user: z.string(), namespace: text }) }),
  ),
  clusters: z.array(z.object({ name: z.string(), cluster: clusterSchema })),
  users: z.array(z.object({ name: z.string(), user: userSchema })),
})

const execCredentialSchema = z.object({
  status: z.object({ token: text, clientCertificateData: text, clientKeyData: text }),
})

type Environment = Readonly<Record<string, string | undefined>>

/** The current context of a kubeconfig, as kubectl reads it, also with a program that gives credentials. Throws `config_invalid`. */
export async function readKubeconfig(file: string, environment: Environment): Promise<Omit<KubernetesAccess, 'queue'>> {
  const config = configSchema.safeParse(parsedYaml(await readFile(file, 'utf8'), file))
  if (!config.success) throw invalid(file, z.prettifyError(config.error), config.error)
  const { contexts, clusters, users, 'current-context': current } = config.data
  const context = contexts.find(({ name }) => name === current)?.context
  const cluster = clusters.find(({ name }) => name === context?.cluster)?.cluster
  const user = users.find(({ name }) => name === context?.user)?.user
  if (context === undefined || cluster === undefined || user === undefined)
    throw invalid(file, `its current context ${JSON.stringify(current)} is incomplete`)
  const near = (path: string) => readFile(resolve(dirname(file), path), 'utf8')
  const pem = async (data: string | undefined, path: string | undefined) => {
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8')
    return path === undefined ? undefined : near(path)
  }
  const given = user.exec === undefined ? {} : await askProgram(user.exec, environment, file)
  const ca = await pem(cluster['certificate-authority-data'], cluster['certificate-authority'])
  const cert = given.clientCertificateData ?? (await pem(user['client-certificate-data'], user['client-certificate']))
  const key = given.clientKeyData ?? (await pem(user['client-key-data'], user['client-key']))
  const token = given.token ?? user.token ?? (user.tokenFile && (await near(user.tokenFile)).trim())
  const rejectUnauthorized = !cluster['insecure-skip-tls-verify']
  return {
    url: cluster.server,
    namespace: context.namespace ?? 'default',
    headers: token ? { authorization: `Bearer ${token}` } : {},
    // One without a proxy: its certificates are for this server alone.
    dispatcher:
      ca || cert || !rejectUnauthorized ? new Agent({ connect: { ca, cert, key, rejectUnauthorized } }) : undefined,
  }
}

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** The service account of the pod that this process runs in; undefined outside of a cluster. */
export async function readServiceAccount(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' }: Environment,
  folder = accountFolder,
): Promise<Omit<KubernetesAccess, 'queue'> | undefined> {
  if (!host) return undefined
  const read = (name: string) => readFile(resolve(folder, name), 'utf8')
  try {
    const [token, ca, namespace] = await Promise.all(['token', 'ca.crt', 'namespace'].map(read))
    return {
      url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      namespace: namespace.trim(),
      headers: { authorization: `Bearer ${token.trim()}` },
      dispatcher: new Agent({ connect: { ca } }),
    }
  } catch {
    // A pod without a service account.
    return undefined
  }
}

async function askProgram(
  { command, args, env }: NonNullable<z.infer<typeof userSchema>['exec']>,
  environment: Environment,
  file: string,
) {
  const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  try {
    const info = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', spec: { interactive: false } }
    const { stdout } = await run(command, args ?? [], {
      env: { ...environment, ...variables, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      timeout: 30_000,
    })
    return execCredentialSchema.parse(JSON.parse(stdout)).status
  } catch (error) {
    throw invalid(file, `its program ${command} gave no credentials`, error)
  }
}

function parsedYaml(content: string, file: string): unknown {
  try {
    return parse(content)
  } catch (error) {
    throw invalid(file, 'it is not YAML', error)
  }
}

function invalid(file: string, why: string, cause?: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'config_invalid',
      message: `The kubeconfig ${file} cannot be used: ${why.slice(0, 500)}`,
      hint: 'Check it with kubectl config view, or set KUBECONFIG to another file.',
      data: { field: 'KUBECONFIG', file },
    },
    { cause },
  )
}
