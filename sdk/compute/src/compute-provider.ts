export const providerNames = ['runpod', 'dstack', 'kubernetes'] as const
export type ProviderName = (typeof providerNames)[number]

/** What a run needs of a machine. */
export type GpuNeed = {
  /** Memory of one GPU, in GB. */
  memoryGb?: number | undefined
  /** A part of the GPU's name, in any case: `4090`. */
  gpu?: string | undefined
}

export type GpuOffer = {
  provider: ProviderName
  /** How the provider names it. */
  id: string
  gpu: string
  /** Of one GPU, in GB; null if the provider does not say. */
  memoryGb: number | null
  /** US cents an hour, rounded up; null on machines that are not paid by the hour, such as a cluster of one's own. */
  centsPerHour: number | null
  /** Region or data center; null if the provider chooses. */
  where: string | null
}

export type WorkerOrder = {
  /** ID of what owns the worker: the run that it trains, or with `pool` its rental. */
  run: string
  /** Set for a worker of the whole queue: its name, and how long it waits for a run that needs a GPU. */
  pool?: { worker: string; idleSeconds: number } | undefined
  /** Address of the server that has the run, as the user names it: by this a sweep knows whose worker it is. */
  owner: string
  /** Address of the server, as the worker reaches it. */
  server: string
  /** A token with the scope `worker`. */
  token: string
  image: string
  /** When the provider ends the worker, whatever it does. */
  maxSeconds: number
  /** Walls that the rented machine may lack, as in `--without-walls`. */
  withoutWalls?: string | undefined
}

export type RentedWorker = {
  provider: ProviderName
  /** Of the provider. */
  id: string
  /** `workerNameOf` its run. */
  name: string
  /** `failed` does no work but may cost; `ended` costs nothing. */
  state: 'starting' | 'running' | 'failed' | 'ended'
  centsPerHour: number | null
  /** The server that has its run, as in its order; null if it does not say. */
  owner: string | null
  /** When it should have ended; null if it does not say. */
  endsAt: Date | null
  createdAt: Date
}

/**
 * A service that runs a container on a machine with a GPU. It knows nothing of training: the container is a worker, which
 * leases its run over HTTP like any other.
 */
export interface ComputeProvider {
  readonly name: ProviderName
  /** Whether it ends a worker after `maxSeconds` by itself. Otherwise only the worker and the sweep do. */
  readonly endsOnTime: boolean
  /** GPUs that can be had now and satisfy the need, in any order. */
  offers(need: GpuNeed): Promise<GpuOffer[]>
  /**
   * Asks once for a worker of this name. Throws `gpu_unavailable` if this offer cannot be had now, and
   * `compute_unreachable` if the answer is lost: then a worker may have been started.
   */
  create(name: string, order: WorkerOrder, offer: GpuOffer): Promise<void>
  /** All workers of ours, of every run and server, those that have ended included as long as the provider lists them. */
  list(): Promise<RentedWorker[]>
  /** Asks once to end a worker and to remove it where ended ones stay. One that is gone is no error. */
  end(worker: Pick<RentedWorker, 'id' | 'name'>): Promise<void>
}

const prefix = 'agentgym-'

/** The name of the worker of a run, the same at every provider: 41 characters, as many as dstack takes. */
export function workerNameOf(run: string): string {
  return `${prefix}${run.replaceAll('-', '')}`
}

/** The ID of the run in a worker's name; undefined for names that are not ours. */
export function runOf(name: string): string | undefined {
  const id = /^agentgym-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(name)
  return id === null ? undefined : id.slice(1).join('-')
}

/** Variables that every rented worker has. The provider shows them, so that a sweep knows whose it is. */
export function workerVariables({
  owner,
  server,
  token,
  maxSeconds,
  withoutWalls,
}: WorkerOrder): Record<string, string> {
  return {
    AGENTGYM_SERVER: server,
    AGENTGYM_TOKEN: token,
    AGENTGYM_RENTED_FOR: owner,
    AGENTGYM_ENDS_AT: new Date(Date.now() + maxSeconds * 1_000).toISOString(),
    ...(withoutWalls === undefined ? {} : { AGENTGYM_WITHOUT_WALLS: withoutWalls }),
  }
}

/** What such variables say of a worker. */
export function markedBy(variables: Readonly<Record<string, unknown>>): Pick<RentedWorker, 'owner' | 'endsAt'> {
  const { AGENTGYM_RENTED_FOR: owner, AGENTGYM_ENDS_AT: endsAt } = variables
  const time = typeof endsAt === 'string' ? new Date(endsAt) : undefined
  return {
    owner: typeof owner === 'string' ? owner : null,
    endsAt: time === undefined || Number.isNaN(time.getTime()) ? null : time,
  }
}

/** A worker without its run ends after this long. */
const idleSeconds = 120

/** The parameters of the worker's image. */
export function workerParameters({ run, pool, maxSeconds }: WorkerOrder): string[] {
  return [
    ...(pool === undefined ? ['worker', '--run', run] : ['worker', '--gpu-only']),
    ...['--kinds', 'train', '--slots', '1', '--name', pool?.worker ?? `rented-${run.slice(0, 8)}`],
    ...['--exit-when-idle', String(pool?.idleSeconds ?? idleSeconds), '--end-after', String(maxSeconds)],
  ]
}

/** US cents of an amount in dollars that an API gives as a number, rounded up: an estimate must not be too low. */
export function centsOf(dollars: number): number {
  return Math.ceil(Math.round(dollars * 1e6) / 1e4)
}

/** US cents for this long, rounded up; null where hours have no price. */
export function costCents(centsPerHour: number | null, milliseconds: number): number | null {
  return centsPerHour === null ? null : Math.ceil((centsPerHour * Math.ceil(milliseconds / 1_000)) / 3_600)
}

export function satisfies(offer: Pick<GpuOffer, 'gpu' | 'memoryGb'>, { memoryGb = 0, gpu = '' }: GpuNeed): boolean {
  const enough = memoryGb === 0 || (offer.memoryGb !== null && offer.memoryGb >= memoryGb)
  return enough && offer.gpu.toLowerCase().includes(gpu.toLowerCase())
}

/** Cheapest first; among equals the one with more memory, then by name, so that the order is always the same. */
export function cheapestFirst(offers: readonly GpuOffer[]): GpuOffer[] {
  const text = ({ provider, gpu, where, id }: GpuOffer) => [provider, gpu, where ?? '', id].join('\n')
  return offers.toSorted(
    (a, b) =>
      (a.centsPerHour ?? 0) - (b.centsPerHour ?? 0) ||
      (b.memoryGb ?? 0) - (a.memoryGb ?? 0) ||
      (text(a) < text(b) ? -1 : 1),
  )
}

/** Order of workers of one name: the first one stays. */
export function firstMade(a: RentedWorker, b: RentedWorker): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1)
}
