import {
  type CloudAnswer,
  type CloudRequest,
  type CloudServer,
  type Rented,
  startCloud,
  unknownKeys,
} from './cloud-server.ts'

/** `cost`: US dollars an hour. */
type PricedPod = Rented & { cost: number }
type Pod = PricedPod & { status: string; createdAt: string; visibleAfter: number }

export type FakeRunpod = CloudServer & {
  key: string
  /** Pods that are charged. */
  rented(): Rented[]
  /** A pod's worker ends its own pod, whatever befalls our requests. */
  exit(id: string): void
  /** All pods that were ever made. */
  made: Rented[]
  /** GPUs of the catalog that are sold out at the moment of the order, though listed. */
  soldOut: Set<string>
  /** Called with each new pod and the arguments of its container, which the fake itself does not run. */
  started: ((pod: PricedPod, args: string[]) => void) | undefined
  /** How many lists leave a new pod out. */
  lag: number
  /** Changes the status of all pods, as RunPod does when containers exit. */
  setStatus(status: string): void
}

const gpus = [
  { id: 'NVIDIA GeForce RTX 4090', name: 'RTX 4090', memory: 24, price: 0.44, level: 'HIGH', place: 'US-KS-2' },
  { id: 'NVIDIA RTX A4000', name: 'RTX A4000', memory: 16, price: 0.17, level: 'LOW', place: 'EU-RO-1' },
  { id: 'NVIDIA A40', name: 'A40', memory: 48, price: 0.35, level: 'NONE', place: 'CA-MTL-1' },
  { id: 'NVIDIA H100 80GB HBM3', name: 'H100 SXM', memory: 80, price: 2.69, level: 'MEDIUM', place: 'US-TX-3' },
]

const podKeys = ['name', 'image', 'args', 'env', 'disk', 'ports', 'gpu', 'cloud', 'dataCenterIds', 'mounts', 'registry']

/**
 * RunPod's REST API v2 as its OpenAPI document describes it: names are not unique, a body with unknown keys is 422, no
 * capacity is 400, a deleted pod is listed no more.
 */
export async function startRunpod(key = 'rpa_TEST'): Promise<FakeRunpod> {
  const pods = new Map<string, Pod>()
  const made: Rented[] = []
  let count = 0
  let lists = 0
  const problem = (status: number, title: string, detail: string, errors?: string[]): CloudAnswer => ({
    status,
    body: { title, status, detail, ...(errors === undefined ? {} : { errors }) },
  })

  const create = ({ body }: CloudRequest): CloudAnswer => {
    const {
      name,
      image,
      env = {},
      gpu,
    } = body as { name?: string; image?: string; env?: Record<string, string>; gpu?: { id: string; count: number } }
    const errors = unknownKeys(body, podKeys).map((bad) => `$: additional properties '${bad}' not allowed`)
    if (!name) errors.push("$: missing property 'name'")
    if (!image) errors.push("$: missing property 'image'")
    if (errors.length > 0 || gpu === undefined)
      return problem(422, 'Unprocessable Entity', 'the body is invalid', errors)
    const type = gpus.find(({ id }) => id === gpu.id)
    if (type === undefined || fake.soldOut.has(gpu.id))
      return problem(
        400,
        'Bad Request',
        'There are no longer any instances available with the requested specifications.',
      )
    count++
    const pod: Pod = {
      ...{
        id: `pod${String(count).padStart(6, '0')}`,
        name: String(name),
        env,
        status: 'RUNNING',
        cost: type.price * gpu.count,
      },
      ...{ createdAt: new Date().toISOString(), visibleAfter: lists + fake.lag },
    }
    pods.set(pod.id, pod)
    made.push(pod)
    fake.started?.(pod, String(body.args ?? '').split(' '))
    return { status: 201, body: shown({ ...pod, status: 'PROVISIONING' }) }
  }

  const answer = (request: CloudRequest): CloudAnswer => {
    const { method, path } = request
    if (method === 'GET' && path === '/v2/catalog/gpus') return { status: 200, body: { gpus: catalog(request.query) } }
    if (method === 'POST' && path === '/v2/pods') return create(request)
    if (method === 'GET' && path === '/v2/pods') {
      lists++
      return { status: 200, body: { pods: [...pods.values()].filter((pod) => pod.visibleAfter < lists).map(shown) } }
    }
    const id = /^\/v2\/pods\/([^/]+)$/.exec(path)?.[1]
    if (method === 'DELETE' && id !== undefined)
      return pods.delete(id) ? { status: 204 } : problem(404, 'Not Found', 'pod not found')
    return problem(404, 'Not Found', 'no such route')
  }

  const cloud = await startCloud(key, answer, problem(401, 'Unauthorized', 'the API key is invalid'))
  const fake: FakeRunpod = Object.assign(cloud, {
    ...{ key, made, soldOut: new Set<string>(), lag: 0 },
    started: undefined as FakeRunpod['started'],
    rented: () => [...pods.values()],
    exit: (id: string) => void pods.delete(id),
    setStatus: (status: string) => {
      for (const pod of pods.values()) Object.assign(pod, { status, cost: status === 'RUNNING' ? pod.cost : 0 })
    },
  })
  return fake
}

function catalog(query: URLSearchParams) {
  const withStock = query.get('include') === 'AVAILABILITY' && query.get('product') === 'POD'
  return gpus.map(({ id, name, memory, price, level, place }) => ({
    ...{ id, name, memory, pool: null, manufacturer: 'NVIDIA', secure: true, community: true },
    price: { secure: price, community: price / 2 },
    maxCount: { secure: 8, community: 4 },
    ...(withStock ? { availability: level, dataCenters: [{ id: place, name: place, availability: level }] } : {}),
  }))
}

function shown({ id, name, env, status, cost, createdAt }: Pod) {
  return {
    ...{ id, name, env, status, cost, createdAt, image: 'agentgym-worker', args: '', disk: 20, ports: [], mounts: {} },
    ...{ registry: null, actions: ['stop', 'terminate'], cloud: 'SECURE', dataCenterId: null, cudaVersion: null },
    ...{ ssh: {}, template: null, locked: false, runtime: null, startedAt: null, globalNetworking: { enabled: false } },
  }
}
