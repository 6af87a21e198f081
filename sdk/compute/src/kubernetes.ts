import type { Dispatcher } from 'undici'
import { z } from 'zod'
import {
  type ComputeProvider,
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

export type KubernetesAccess = {
  url: string
  namespace: string
  headers: Readonly<Record<string, string>>
  dispatcher?: Dispatcher | undefined
  /** Queue of Kueue that admits the jobs. */
  queue?: string | undefined
}

const nodesSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).nullish() }),
      spec: z.object({ unschedulable: z.boolean().optional() }).optional(),
      status: z.object({ allocatable: z.record(z.string(), z.string()).nullish() }),
    }),
  ),
})

const jobsSchema = z.object({
  metadata: z.object({ continue: z.string().optional() }).optional(),
  items: z.array(
    z.object({
      metadata: z.object({
        uid: z.string(),
        name: z.string(),
        creationTimestamp: z.string(),
        deletionTimestamp: z.string().nullish(),
        annotations: z.record(z.string(), z.string()).nullish(),
      }),
      status: z
        .object({
          active: z.number().nullish(),
          ready: z.number().nullish(),
          conditions: z.array(z.object({ type: z.string(), status: z.string() })).nullish(),
        })
        .nullish(),
    }),
  ),
})

const gpuResource = 'nvidia.com/gpu'
/** Of NVIDIA's GPU feature discovery. */
const labels = {
  product: 'nvidia.com/gpu.product',
  memory: 'nvidia.com/gpu.memory',
  zone: 'topology.kubernetes.io/zone',
}
/** Label of our jobs, and annotations that say whose they are. */
const ours = { label: 'agentgym.dev/rented', owner: 'agentgym.dev/rented-for', endsAt: 'agentgym.dev/ends-at' }
const uid = 10_001

/** Jobs of Kubernetes. A name is unique in its namespace, and `activeDeadlineSeconds` ends a job. */
export class Kubernetes implements ComputeProvider {
  readonly name: ProviderName = 'kubernetes'
  readonly endsOnTime = true
  readonly #client: ProviderClient
  readonly #namespace: string
  readonly #queue: string | undefined

  constructor({ url, namespace, headers, dispatcher, queue }: KubernetesAccess) {
    this.#client = new ProviderClient({ provider: 'kubernetes', title: 'Kubernetes', url, headers, dispatcher })
    this.#namespace = namespace
    this.#queue = queue
  }

  /** One offer for each kind of GPU; one without a name where nodes may not be listed. */
  async offers(need: GpuNeed): Promise<GpuOffer[]> {
    const answer = await this.#client.send('GET', '/api/v1/nodes?limit=500')
    if (answer.status === 403) return need.gpu || need.memoryGb ? [] : [this.#offer('', null, null)]
    if (answer.status >= 300) throw this.#client.refusal(answer)
    const offers = new Map<string, GpuOffer>()
    for (const { metadata, spec, status } of nodesSchema.parse(answer.body).items) {
      if (spec?.unschedulable || !(Number(status.allocatable?.[gpuResource] ?? 0) > 0)) continue
      const { [labels.product]: product = '', [labels.memory]: memory, [labels.zone]: zone } = metadata.labels ?? {}
      const memoryGb = memory === undefined ? null : Math.round(Number(memory) / 1_024)
      offers.set(product, this.#offer(product, memoryGb, zone ?? null))
    }
    return [...offers.values()].filter((offer) => satisfies(offer, need))
  }

  async create(name: string, order: WorkerOrder, offer: GpuOffer): Promise<void> {
    const answer = await this.#client.send('POST', this.#jobs(), this.#job(name, order, offer))
    // A job of this name exists: of an earlier request whose answer was lost.
    if (answer.status >= 300 && answer.status !== 409) throw this.#client.refusal(answer)
  }

  async list(): Promise<RentedWorker[]> {
    const workers: RentedWorker[] = []
    for (let next = ''; ; ) {
      const query = `labelSelector=${encodeURIComponent(`${ours.label}=true`)}&limit=500${next && `&continue=${encodeURIComponent(next)}`}`
      const { metadata, items } = await this.#client.ask(jobsSchema, 'GET', `${this.#jobs()}?${query}`)
      for (const { metadata: job, status } of items) {
        if (runOf(job.name) === undefined) continue
        const { [ours.owner]: owner, [ours.endsAt]: endsAt } = job.annotations ?? {}
        workers.push({
          ...{ provider: this.name, id: job.uid, name: job.name, centsPerHour: null },
          state: job.deletionTimestamp ? 'ended' : stateOf(status),
          ...markedBy({ AGENTGYM_RENTED_FOR: owner, AGENTGYM_ENDS_AT: endsAt }),
          createdAt: new Date(job.creationTimestamp),
        })
      }
      next = metadata?.continue ?? ''
      if (next === '') return workers
    }
  }

  async end({ name }: Pick<RentedWorker, 'name'>): Promise<void> {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' }
    const answer = await this.#client.send('DELETE', `${this.#jobs()}/${name}`, options)
    if (answer.status >= 300 && answer.status !== 404) throw this.#client.refusal(answer)
  }

  #jobs(): string {
    return `/apis/batch/v1/namespaces/${encodeURIComponent(this.#namespace)}/jobs`
  }

  #offer(product: string, memoryGb: number | null, where: string | null): GpuOffer {
    return {
      ...{ provider: this.name, id: product, gpu: product.replaceAll('-', ' ') || 'NVIDIA GPU', memoryGb },
      ...{ centsPerHour: null, where },
    }
  }

  /** As the workers of the Helm chart: no root, no service account, and the namespaces that the sandbox needs. */
  #job(name: string, order: WorkerOrder, offer: GpuOffer): Record<string, unknown> {
    const variables = workerVariables(order)
    const { AGENTGYM_RENTED_FOR: owner, AGENTGYM_ENDS_AT: endsAt } = variables
    const queue = this.#queue === undefined ? {} : { 'kueue.x-k8s.io/queue-name': this.#queue }
    return {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name,
        labels: { 'app.kubernetes.io/name': 'agentgym', [ours.label]: 'true', ...queue },
        annotations: { [ours.owner]: owner, [ours.endsAt]: endsAt },
      },
      spec: {
        ...(this.#queue === undefined ? {} : { suspend: true }),
        ...{ backoffLimit: 0, completions: 1, parallelism: 1 },
        activeDeadlineSeconds: order.maxSeconds,
        ttlSecondsAfterFinished: 3_600,
        template: {
          metadata: { labels: { 'app.kubernetes.io/name': 'agentgym', 'agentgym.dev/role': 'worker' } },
          spec: {
            ...{ restartPolicy: 'Never', automountServiceAccountToken: false, enableServiceLinks: false },
            ...{ terminationGracePeriodSeconds: 60, hostUsers: false },
            securityContext: { runAsNonRoot: true, runAsUser: uid, runAsGroup: uid, fsGroup: uid },
            ...(offer.id === '' ? {} : { nodeSelector: { [labels.product]: offer.id } }),
            tolerations: [{ key: gpuResource, operator: 'Exists', effect: 'NoSchedule' }],
            containers: [
              {
                ...{ name: 'worker', image: order.image, args: workerParameters(order) },
                env: Object.entries(variables).map(([key, value]) => ({ name: key, value })),
                resources: { limits: { [gpuResource]: 1 } },
                securityContext: {
                  ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
                  capabilities: { drop: ['ALL'] },
                  ...{ seccompProfile: { type: 'Unconfined' }, appArmorProfile: { type: 'Unconfined' } },
                },
                volumeMounts: [
                  { name: 'data', mountPath: '/data' },
                  { name: 'tmp', mountPath: '/tmp' },
                ],
              },
            ],
            volumes: [
              { name: 'data', emptyDir: {} },
              { name: 'tmp', emptyDir: {} },
            ],
          },
        },
      },
    }
  }
}

type JobStatus = z.infer<typeof jobsSchema>['items'][number]['status']

function stateOf(status: JobStatus): RentedWorker['state'] {
  const over = status?.conditions?.some(
    ({ type, status: is }) => ['Complete', 'Failed'].includes(type) && is === 'True',
  )
  if (over) return 'ended'
  return (status?.ready ?? 0) > 0 ? 'running' : 'starting'
}
