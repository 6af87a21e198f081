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

const planSchema = z.object({
  job_plans: z.array(
    z.object({
      offers: z.array(
        z.object({
          backend: z.string(),
          region: z.string(),
          price: z.number(),
          availability: z.string(),
          instance: z.object({
            name: z.string(),
            resources: z.object({ gpus: z.array(z.object({ name: z.string(), memory_mib: z.number() })) }),
          }),
        }),
      ),
    }),
  ),
})

const runSchema = z.object({
  id: z.string(),
  status: z.string(),
  submitted_at: z.string(),
  run_spec: z.object({
    run_name: z.string().nullish(),
    configuration: z.object({ env: z.record(z.string(), z.unknown()).nullish() }),
  }),
  latest_job_submission: z.object({ job_provisioning_data: z.object({ price: z.number() }).nullish() }).nullish(),
})

const pageSize = 100
const mostOffers = 200
/** What dstack calls offers that can be had: its own list. */
const available = ['unknown', 'available', 'idle']
const ended = ['terminated', 'failed', 'done']

/** Runs of dstack, by the HTTP API of its server. An active run's name is unique, and `max_duration` ends it. */
export class Dstack implements ComputeProvider {
  readonly name: ProviderName = 'dstack'
  readonly endsOnTime = true
  readonly #client: ProviderClient
  readonly #project: string

  constructor({ url, project, token }: { url: string; project: string; token: string }) {
    const headers = { authorization: `Bearer ${token}` }
    this.#client = new ProviderClient({ provider: 'dstack', title: 'dstack', url, headers })
    this.#project = project
  }

  async offers(need: GpuNeed): Promise<GpuOffer[]> {
    const configuration = {
      ...{ type: 'task', image: 'scratch', commands: [':'], spot_policy: 'on-demand' },
      resources: { gpu: gpuSpec(need.memoryGb) },
    }
    const { job_plans: plans } = await this.#client.ask(planSchema, 'POST', this.#path('/runs/get_plan'), {
      run_spec: { configuration },
      max_offers: mostOffers,
      for_offers_only: true,
    })
    return (plans[0]?.offers ?? [])
      .filter(({ availability, instance }) => available.includes(availability) && instance.resources.gpus.length > 0)
      .map(({ backend, region, price, instance }) => ({
        ...{ provider: this.name, id: [backend, region, instance.name].join('/') },
        gpu: instance.resources.gpus[0].name,
        memoryGb: Math.round(instance.resources.gpus[0].memory_mib / 1_024),
        centsPerHour: centsOf(price),
        where: `${backend} ${region}`,
      }))
      .filter((offer) => satisfies(offer, need))
  }

  async create(name: string, order: WorkerOrder, { id, centsPerHour }: GpuOffer): Promise<void> {
    const [backend, region, instance] = id.split('/')
    const configuration = {
      type: 'task',
      image: order.image,
      commands: [`exec agentgym ${workerParameters(order).join(' ')}`],
      env: workerVariables(order),
      resources: { gpu: gpuSpec() },
      backends: [backend],
      regions: [region],
      instance_types: [instance],
      spot_policy: 'on-demand',
      ...(centsPerHour === null ? {} : { max_price: centsPerHour / 100 }),
      max_duration: order.maxSeconds,
      // Its machine ends with the run; by default it would wait for another one, paid.
      idle_duration: 0,
      retry: false,
    }
    const answer = await this.#client.send('POST', this.#path('/runs/apply'), {
      plan: { run_spec: { run_name: name, configuration } },
      // An active run of this name refuses.
      force: false,
    })
    if (answer.status >= 300) throw this.#client.refusal(answer)
  }

  async list(): Promise<RentedWorker[]> {
    const workers: RentedWorker[] = []
    for (let last: z.infer<typeof runSchema> | undefined; ; ) {
      const page: z.infer<typeof runSchema>[] = await this.#client.ask(z.array(runSchema), 'POST', '/api/runs/list', {
        ...{ project_name: this.#project, only_active: true, include_jobs: false, limit: pageSize },
        ...(last === undefined ? {} : { prev_submitted_at: last.submitted_at, prev_run_id: last.id }),
      })
      for (const run of page) {
        const name = run.run_spec.run_name ?? ''
        if (runOf(name) === undefined) continue
        const price = run.latest_job_submission?.job_provisioning_data?.price
        workers.push({
          ...{ provider: this.name, id: run.id, name, state: stateOf(run.status) },
          centsPerHour: price === undefined ? null : centsOf(price),
          ...markedBy(run.run_spec.configuration.env ?? {}),
          createdAt: new Date(run.submitted_at),
        })
      }
      if (page.length < pageSize) return workers
      last = page.at(-1)
    }
  }

  async end({ name }: Pick<RentedWorker, 'name'>): Promise<void> {
    const answer = await this.#client.send('POST', this.#path('/runs/stop'), { runs_names: [name], abort: false })
    if (answer.status >= 300) throw this.#client.refusal(answer)
  }

  #path(path: string): string {
    return `/api/project/${encodeURIComponent(this.#project)}${path}`
  }
}

function gpuSpec(memoryGb?: number): Record<string, unknown> {
  return { vendor: 'nvidia', count: 1, ...(memoryGb === undefined ? {} : { memory: `${memoryGb}GB..` }) }
}

function stateOf(status: string): RentedWorker['state'] {
  if (ended.includes(status)) return 'ended'
  return status === 'running' ? 'running' : 'starting'
}
