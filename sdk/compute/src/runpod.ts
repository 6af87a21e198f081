import { z } from 'zod'
import {
  type ComputeProvider,
  centsOf,
  type GpuNeed,
  type GpuOffer,
  markedBy,
  type ProviderName,
  type RentedWorker,
  runOf,
  satisfies,
  type WorkerOrder,
  workerParameters,
  workerVariables,
} from './compute-provider.ts'
import { ProviderClient } from './provider-request.ts'

const runpodAddress = 'https://api.runpod.io'

const catalogSchema = z.object({
  gpus: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      memory: z.number(),
      secure: z.boolean(),
      price: z.object({ secure: z.number() }),
      availability: z.string().optional(),
      dataCenters: z.array(z.object({ id: z.string(), availability: z.string().optional() })).optional(),
    }),
  ),
})

const podSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  cost: z.number(),
  env: z.record(z.string(), z.unknown()).nullish(),
  createdAt: z.string(),
})

/** Containers of the worker's image are read-only and small: this is for checkpoints and packages. */
const diskGb = 20

/**
 * Pods of RunPod, by its REST API v2. Names are not unique there, and nothing ends a pod at a time: the worker deletes its
 * own pod (`--end-pod`), and a sweep those that are left.
 */
export class Runpod implements ComputeProvider {
  readonly name: ProviderName = 'runpod'
  readonly endsOnTime = false
  readonly #client: ProviderClient

  constructor({ key, url = runpodAddress }: { key: string; url?: string | undefined }) {
    const headers = { authorization: `Bearer ${key}` }
    this.#client = new ProviderClient({ provider: 'runpod', title: 'RunPod', url, headers })
  }

  async offers(need: GpuNeed): Promise<GpuOffer[]> {
    const query = 'include=AVAILABILITY&product=POD&cloud=SECURE'
    const { gpus } = await this.#client.ask(catalogSchema, 'GET', `/v2/catalog/gpus?${query}`)
    return gpus
      .filter(({ secure, availability, price }) => secure && availability !== 'NONE' && price.secure > 0)
      .map(({ id, name, memory, price, dataCenters = [] }) => {
        const places = dataCenters.filter((place) => place.availability !== 'NONE').map((place) => place.id)
        return {
          ...{ provider: this.name, id, gpu: name, memoryGb: memory, centsPerHour: centsOf(price.secure) },
          where: places.length === 0 ? null : places.join(' '),
        }
      })
      .filter((offer) => satisfies(offer, need))
  }

  async create(name: string, order: WorkerOrder, offer: GpuOffer): Promise<void> {
    const answer = await this.#client.send('POST', '/v2/pods', {
      name,
      image: order.image,
      args: [...workerParameters(order), '--end-pod'].join(' '),
      env: workerVariables(order),
      disk: diskGb,
      ports: [],
      gpu: { id: offer.id, count: 1 },
      cloud: 'SECURE',
    })
    // 400 is also how it says that there is no capacity, and 403 that this GPU is not for the account.
    if (answer.status === 400 || answer.status === 403) throw this.#client.refusal(answer, 'gpu_unavailable')
    if (answer.status >= 300) throw this.#client.refusal(answer)
  }

  async list(): Promise<RentedWorker[]> {
    const { pods } = await this.#client.ask(z.object({ pods: z.array(podSchema) }), 'GET', '/v2/pods')
    return pods
      .filter(({ name }) => runOf(name) !== undefined)
      .map(({ id, name, status, cost, env, createdAt }) => ({
        ...{ provider: this.name, id, name, state: stateOf(status), createdAt: new Date(createdAt) },
        centsPerHour: centsOf(cost),
        ...markedBy(env ?? {}),
      }))
  }

  async end({ id }: Pick<RentedWorker, 'id'>): Promise<void> {
    const answer = await this.#client.send('DELETE', `/v2/pods/${encodeURIComponent(id)}`)
    if (answer.status >= 300 && answer.status !== 404) throw this.#client.refusal(answer)
  }
}

function stateOf(status: string): RentedWorker['state'] {
  if (status === 'TERMINATED') return 'ended'
  // Its disk may still cost.
  if (status === 'EXITED' || status === 'ERROR') return 'failed'
  return status === 'RUNNING' ? 'running' : 'starting'
}

/**
 * Deletes the pod that this process runs in, by the variables that RunPod gives it; false where it is in none.
 */
export async function endOwnPod(environment: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  const { RUNPOD_POD_ID: id, RUNPOD_API_KEY: key, AGENTGYM_RUNPOD_URL: url } = environment
  if (!id || !key) return false
  await new Runpod({ key, url }).end({ id })
  return true
}
