import { type CloudAnswer, type CloudRequest, type CloudServer, type Rented, startCloud } from './cloud-server.ts'

type Manifest = {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: { activeDeadlineSeconds?: number; suspend?: boolean; template: { spec: Record<string, unknown> } }
}
type Job = Rented & { manifest: Manifest; createdAt: string; condition: string | undefined }

export type FakeKubernetes = CloudServer & {
  token: string
  namespace: string
  rented(): Rented[]
  made: Rented[]
  manifests: Manifest[]
  /** `Complete` or `Failed`: the condition that all jobs then have. */
  setCondition(condition: string): void
  /** Whether nodes may be listed. */
  nodesVisible: boolean
}

const nodes = [
  node('cpu-1', {}, '0'),
  node('gpu-1', { 'nvidia.com/gpu.product': 'NVIDIA-L40S', 'nvidia.com/gpu.memory': '46068' }, '2'),
  node('gpu-2', { 'nvidia.com/gpu.product': 'NVIDIA-L40S', 'nvidia.com/gpu.memory': '46068' }, '2'),
]

/** The API server's part for jobs of a namespace: a name exists once, 409 for a second one, 404 for none. */
export async function startKubernetes(token = 'k8s-token', namespace = 'gym'): Promise<FakeKubernetes> {
  const jobs = new Map<string, Job>()
  const made: Rented[] = []
  const manifests: Manifest[] = []
  const failure = (code: number, reason: string, message: string): CloudAnswer => ({
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code },
  })

  const create = (manifest: Manifest): CloudAnswer => {
    const { name } = manifest.metadata
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
      return failure(422, 'Invalid', `Job.batch "${name}" is invalid`)
    if (jobs.has(name)) return failure(409, 'AlreadyExists', `jobs.batch "${name}" already exists`)
    const [{ env }] = manifest.spec.template.spec.containers as [{ env: { name: string; value: string }[] }]
    const job: Job = {
      ...{ id: `uid-${made.length + 1}`, name, manifest, createdAt: new Date().toISOString(), condition: undefined },
      env: Object.fromEntries(env.map(({ name: key, value }) => [key, value])),
    }
    jobs.set(name, job)
    made.push(job)
    manifests.push(manifest)
    return { status: 201, body: shown(job) }
  }

  const answer = ({ method, path, query, body }: CloudRequest): CloudAnswer => {
    if (method === 'GET' && path === '/api/v1/nodes')
      return fake.nodesVisible
        ? { status: 200, body: { items: nodes } }
        : failure(403, 'Forbidden', 'nodes is forbidden')
    const own = `/apis/batch/v1/namespaces/${namespace}/jobs`
    if (method === 'POST' && path === own) return create(body as Manifest)
    if (method === 'GET' && path === own) {
      const [key, value] = (query.get('labelSelector') ?? '').split('=')
      const items = [...jobs.values()].filter(({ manifest }) => manifest.metadata.labels?.[key] === value).map(shown)
      return { status: 200, body: { kind: 'JobList', metadata: {}, items } }
    }
    if (method === 'DELETE' && path.startsWith(`${own}/`)) {
      const name = path.slice(own.length + 1)
      return jobs.delete(name) ? { status: 200, body: {} } : failure(404, 'NotFound', `jobs.batch "${name}" not found`)
    }
    return failure(403, 'Forbidden', `${method} ${path} is forbidden`)
  }

  const cloud = await startCloud(token, answer, failure(401, 'Unauthorized', 'Unauthorized'))
  const fake: FakeKubernetes = Object.assign(cloud, {
    ...{ token, namespace, made, manifests, nodesVisible: true },
    rented: () => [...jobs.values()].filter(({ condition }) => condition === undefined),
    setCondition: (condition: string) => {
      for (const job of jobs.values()) job.condition = condition
    },
  })
  return fake
}

function node(name: string, labels: Record<string, string>, gpus: string) {
  return { metadata: { name, labels }, spec: {}, status: { allocatable: { cpu: '16', 'nvidia.com/gpu': gpus } } }
}

function shown({ id, name, manifest, createdAt, condition }: Job) {
  const conditions = condition === undefined ? null : [{ type: condition, status: 'True' }]
  return {
    ...{ apiVersion: 'batch/v1', kind: 'Job' },
    metadata: { ...manifest.metadata, name, uid: id, creationTimestamp: createdAt },
    status: condition === undefined ? { active: 1, ready: 1 } : { conditions },
  }
}
