import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { z } from 'zod'
import type { ComputeProvider, ProviderName } from './compute-provider.ts'
import { Dstack } from './dstack.ts'
import { Kubernetes } from './kubernetes.ts'
import { Runpod } from './runpod.ts'

type Environment = Readonly<Record<string, string | undefined>>

const dstackConfigSchema = z.object({
  projects: z.array(z.object({ name: z.string(), url: z.string(), token: z.string(), default: z.boolean().nullish() })),
})

/** Where each provider's own tools keep credentials; undefined where there are none. Throws `config_invalid`. */
const finders: Record<ProviderName, (environment: Environment) => Promise<ComputeProvider | undefined>> = {
  runpod: async (environment) => {
    const key = environment.RUNPOD_API_KEY || (await savedRunpodKey(environment))
    return key === undefined ? undefined : new Runpod({ key, url: environment.AGENTGYM_RUNPOD_URL })
  },
  dstack: async (environment) => {
    const { DSTACK_SERVER_URL: url, DSTACK_TOKEN: token, DSTACK_PROJECT: project = 'main' } = environment
    if (url && token) return new Dstack({ url, token, project })
    const file = homeFile(environment, '.dstack', 'config.yml')
    const text = file && (await readIfThere(file))
    if (!text) return undefined
    const config = dstackConfigSchema.safeParse(await yamlOf(text))
    if (!config.success) throw unreadable('dstack', file, z.prettifyError(config.error), config.error)
    const { projects } = config.data
    const named = environment.DSTACK_PROJECT
    const found = named
      ? projects.find(({ name }) => name === named)
      : (projects.find((one) => one.default) ?? projects[0])
    if (named && found === undefined) throw unreadable('dstack', file, `it has no project ${named}`)
    return found && new Dstack({ url: found.url, token: found.token, project: found.name })
  },
  kubernetes: async (environment) => {
    const { readKubeconfig, readServiceAccount } = await import('./kubeconfig.ts')
    const queue = environment.AGENTGYM_KUEUE_QUEUE
    // kubectl merges several files; we read the first.
    const [named] = (environment.KUBECONFIG ?? '').split(delimiter).filter(Boolean)
    const file = named ?? homeFile(environment, '.kube', 'config')
    if (named !== undefined || (file && (await readIfThere(file)) !== undefined))
      return new Kubernetes({ ...(await readKubeconfig(file ?? '', environment)), queue })
    const account = await readServiceAccount(environment)
    return account && new Kubernetes({ ...account, queue })
  },
}

/** What to do where a provider has no credentials. */
const hints: Record<ProviderName, string> = {
  runpod: 'Set RUNPOD_API_KEY, or save a key with runpodctl config --apiKey KEY.',
  dstack: 'Add a project with dstack project add, or set DSTACK_SERVER_URL, DSTACK_TOKEN and DSTACK_PROJECT.',
  kubernetes: 'Set KUBECONFIG to a kubeconfig, or write ~/.kube/config.',
}

/** A provider with the credentials of this user; undefined where there are none. */
export function findProvider(name: ProviderName, environment: Environment): Promise<ComputeProvider | undefined> {
  return finders[name](environment)
}

/** Throws `compute_credentials_missing` where there are none. */
export async function requireProvider(name: ProviderName, environment: Environment): Promise<ComputeProvider> {
  const found = await findProvider(name, environment)
  if (found !== undefined) return found
  throw new AgentGymError({
    code: 'compute_credentials_missing',
    message: `No credentials of ${name} were found`,
    hint: hints[name],
    data: { provider: name },
  })
}

/** runpodctl writes `apikey`, RunPod's Python library `api_key` in a table: TOML of which this is all that matters. */
async function savedRunpodKey(environment: Environment): Promise<string | undefined> {
  const file = homeFile(environment, '.runpod', 'config.toml')
  const text = file && (await readIfThere(file))
  return text ? /^\s*api_?key\s*=\s*["']([^"']+)["']/im.exec(text)?.[1] : undefined
}

function homeFile({ HOME }: Environment, ...path: string[]): string | undefined {
  return HOME ? join(HOME, ...path) : undefined
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable('the provider', file, (error as NodeJS.ErrnoException).code ?? 'unreadable', error)
  }
}

async function yamlOf(text: string): Promise<unknown> {
  const { parse } = await import('yaml')
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

function unreadable(title: string, file: string, why: string, cause?: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'config_invalid',
      message: `The configuration of ${title} in ${file} cannot be used: ${why.slice(0, 500)}`,
      hint: 'Correct the file, or set the environment variables instead.',
      data: { field: 'file', file },
    },
    { cause },
  )
}
