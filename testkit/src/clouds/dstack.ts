import {
  type CloudAnswer,
  type CloudRequest,
  type CloudServer,
  type Rented,
  startCloud,
  unknownKeys,
} from './cloud-server.ts'

type Configuration = { env?: Record<string, string>; instance_types?: string[]; max_duration?: number }
type Run = Rented & { status: string; submittedAt: string; configuration: Configuration }

export type FakeDstack = CloudServer & {
  token: string
  project: string
  /** Runs that have not finished. */
  rented(): Rented[]
  made: Rented[]
  configurations: Configuration[]
  setStatus(status: string): void
}

const offers = [
  offer('aws', 'us-east-1', 'g5.xlarge', { gpu: 'A10G', memoryMib: 24_576, price: 1.006 }),
  offer('runpod', 'EU-RO-1', 'NVIDIA L4', { gpu: 'L4', memoryMib: 24_576, price: 0.4312 }),
  offer('lambda', 'us-west-1', 'gpu_1x_h100', {
    gpu: 'H100',
    memoryMib: 81_920,
    price: 2.49,
    availability: 'not_available',
  }),
  offer('gcp', 'us-west4', 'n1-standard-4-t4', { gpu: 'T4', memoryMib: 16_384, price: 0.3805 }),
]

const configurationKeys = [
  ...[
    'type',
    'image',
    'commands',
    'env',
    'resources',
    'backends',
    'regions',
    'instance_types',
    'spot_policy',
    'max_price',
  ],
  ...['max_duration', 'idle_duration', 'retry'],
]
const finished = ['terminated', 'failed', 'done']

/** dstack's server as version 0.22 answers: a name is unique among active runs, and unknown fields are 422. */
export async function startDstack(token = 'dstack-token', project = 'main'): Promise<FakeDstack> {
  const runs: Run[] = []
  const configurations: Configuration[] = []
  let count = 0
  const failure = (status: number, msg: string, code = 'error'): CloudAnswer => ({
    status,
    body: { detail: [{ msg, code }] },
  })

  const apply = ({ body }: CloudRequest): CloudAnswer => {
    const { plan, force } = body as {
      plan?: { run_spec?: { run_name?: string; configuration?: Configuration } }
      force?: boolean
    }
    const { run_name: name = '', configuration } = plan?.run_spec ?? {}
    if (configuration === undefined || force === undefined) return failure(422, 'Field required')
    const unknown = unknownKeys(configuration, configurationKeys)
    if (unknown.length > 0) return failure(422, `Extra inputs are not permitted: ${unknown.join(', ')}`)
    if (!/^[a-z][a-z0-9-]{1,40}$/.test(name)) return failure(400, 'Resource name should match regex')
    if (runs.some((run) => run.name === name && !finished.includes(run.status)))
      return failure(400, 'Failed to apply plan. Resource has been changed. Try again or use force apply.')
    count++
    const id = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`
    const submittedAt = new Date(Date.now() + count).toISOString()
    const run: Run = { ...{ id, name, status: 'running', submittedAt, configuration, env: configuration.env ?? {} } }
    runs.push(run)
    configurations.push(configuration)
    return { status: 200, body: shown({ ...run, status: 'submitted' }) }
  }

  const list = ({ body }: CloudRequest): CloudAnswer => {
    const {
      only_active: active = false,
      limit = 100,
      prev_run_id: after,
    } = body as { only_active?: boolean; limit?: number; prev_run_id?: string }
    const newest = runs.toReversed().filter(({ status }) => !active || !finished.includes(status))
    const from = after === undefined ? 0 : newest.findIndex(({ id }) => id === after) + 1
    return { status: 200, body: newest.slice(from, from + limit).map(shown) }
  }

  const stop = ({ body }: CloudRequest): CloudAnswer => {
    const { runs_names: names, abort } = body as { runs_names?: string[]; abort?: boolean }
    if (names === undefined || abort === undefined) return failure(422, 'Field required')
    for (const run of runs)
      if (names.includes(run.name) && !finished.includes(run.status))
        // Two steps, as its pipeline takes: listed as terminating until the next request.
        run.status = run.status === 'terminating' ? 'terminated' : 'terminating'
    return { status: 200, body: null }
  }

  const answer = (request: CloudRequest): CloudAnswer => {
    const { method, path } = request
    const own = `/api/project/${project}/runs`
    if (method !== 'POST') return failure(404, 'Not found')
    if (path === `${own}/get_plan`)
      return { status: 200, body: { action: 'create', job_plans: [{ total_offers: offers.length, offers }] } }
    if (path === `${own}/apply`) return apply(request)
    if (path === `${own}/stop`) return stop(request)
    if (path === '/api/runs/list') return list(request)
    return failure(403, 'Access denied')
  }

  const cloud = await startCloud(token, answer, failure(403, 'Invalid token'))
  return Object.assign(cloud, {
    ...{ token, project, configurations },
    made: runs,
    rented: () => runs.filter(({ status }) => !finished.includes(status)),
    setStatus: (status: string) => {
      for (const run of runs) if (!finished.includes(run.status)) run.status = status
    },
  })
}

function offer(
  backend: string,
  region: string,
  name: string,
  {
    gpu,
    memoryMib,
    price,
    availability = 'available',
  }: { gpu: string; memoryMib: number; price: number; availability?: string },
) {
  const resources = {
    cpus: 4,
    memory_mib: 16_384,
    gpus: [{ name: gpu, memory_mib: memoryMib, vendor: 'nvidia' }],
    spot: false,
  }
  return { backend, region, price, availability, instance: { name, resources } }
}

function shown({ id, name, status, submittedAt, configuration }: Run) {
  return {
    ...{ id, project_name: 'main', user: 'admin', status, submitted_at: submittedAt, jobs: [], cost: 0 },
    run_spec: { run_name: name, configuration },
    latest_job_submission: null,
  }
}
