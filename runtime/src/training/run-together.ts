import { createHmac } from 'node:crypto'
import { sha256 } from '@agentgym/agent/engine'
import { AgentGymError, isOffPolicy } from '@agentgym/contract'
import { isExternal } from '../external/external-source.ts'
import type { RankPlace } from '../learner/learner-types.ts'
import { RankHub } from '../learner/ranks.ts'
import { splitEnvironments } from '../rollout/rollout-pool.ts'
import { isRankLost } from './joined-run.ts'
import { environmentsOf, threadsAlone } from './settings.ts'
import type { TrainingJob, TrainingMessage } from './training-job.ts'

/** A run of several processes: those of this machine, and where it meets others. */
export type Together = {
  processes: number
  /** Absent: there is no other machine. */
  rendezvous?: {
    address: string
    port: number
    host: number
    hosts: number
    /** How long to wait for the other machines. Default: ten minutes. */
    timeoutSeconds?: number
    /** Known to the run's machines alone, which prove it to each other. Absent: anyone who reaches the port may take part. */
    secret?: string
  }
  /** What becomes of the checkpoint that is left when a process is lost. Default: kept; the episodes that were lost begin anew. */
  salvage?: 'keep' | 'drop'
}

/** How long hosts wait for each other at the start. */
const MEETING_SECONDS = 600
/** How much longer they may take to connect to each other. */
const GRACE_SECONDS = 15
/** How long the others may take to leave a checkpoint once one is lost. */
const SALVAGE_MS = 60_000

type OnMessage = (message: TrainingMessage) => void | Promise<void>

/** Supervises one process. */
export type RunJob = (
  job: TrainingJob,
  parts: { memory?: number; signal: AbortSignal | undefined; onMessage: OnMessage },
) => Promise<unknown>

/**
 * Runs a job of a run in every process of this machine; each plays its share of the environments. The first process's result
 * is the run's. Where one is lost, the others leave a checkpoint, and the run rejects with what became of it.
 */
export async function runTogether(
  job: TrainingJob,
  { processes, rendezvous, salvage = 'keep' }: Together,
  { run, onMessage, signal }: { run: RunJob; onMessage: OnMessage; signal: AbortSignal | undefined },
): Promise<unknown> {
  refuseUnsupported(job)
  const hub = new RankHub(processes, { severalHosts: rendezvous !== undefined })
  const killed = new AbortController()
  let timer: NodeJS.Timeout | undefined
  try {
    const hosts = await meet(job, hub, { processes, rendezvous }, signal)
    const places = placesOf(job, processes, hosts, rendezvous?.host ?? 0)
    let kept = false
    const lost = (error: unknown) => {
      hub.abort(lossText(error))
      timer ??= setTimeout(() => killed.abort(), SALVAGE_MS)
    }
    const results = await Promise.allSettled(
      places.map((place, local) =>
        run(
          { ...job, ranks: { place, alone: threadsAlone(job.plan) } },
          {
            memory: hub.descriptor,
            signal: signal === undefined ? killed.signal : AbortSignal.any([signal, killed.signal]),
            onMessage: (message) => {
              if (message.type !== 'checkpoint' || !message.salvaged)
                return local === 0 ? onMessage(message) : undefined
              if (kept || salvage === 'drop') return
              kept = true
              return onMessage(message)
            },
          },
        ).catch((error: unknown) => {
          lost(error)
          throw error
        }),
      ),
    )
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (errors.length > 0) throw errors.find((error) => !isRankLost(error)) ?? errors[0]
    return (results[0] as PromiseFulfilledResult<unknown>).value
  } finally {
    clearTimeout(timer)
    hub.close()
  }
}

function lossText(error: unknown): string {
  return `a process of the run ended: ${error instanceof Error ? error.message : String(error)}`
}

function refuseUnsupported({ plan, scenario }: TrainingJob): void {
  if (isOffPolicy(plan.algorithm)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: `${plan.algorithm} learns in one process`,
      hint: 'Several processes train by ppo, a2c and grpo: add --algorithm ppo, or remove --processes.',
      data: { field: 'processes' },
    })
  }
  if (isExternal(scenario)) {
    throw new AgentGymError({
      code: 'config_invalid',
      message: 'an environment of your own is trained on in one process',
      hint: 'Remove --processes. Its own server may have several.',
      data: { field: 'processes' },
    })
  }
}

/** What each machine shows the others: they know the secret, and could not have it from what another showed. */
function proofsOf(secret: string, hosts: number): string[] {
  return Array.from({ length: hosts }, (_, host) => createHmac('sha256', secret).update(`host:${host}`).digest('hex'))
}

/** Machines that found each other's addresses may still not reach each other on the ports that Gloo chose. */
async function withinSeconds<Value>(
  seconds: number,
  meeting: Promise<Value>,
  { address, port }: { address: string; port: number },
  signal: AbortSignal | undefined,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  let cancel: (() => void) | undefined
  const ended = new Promise<never>((_, reject) => {
    cancel = () => reject(new AgentGymError({ code: 'training_cancelled', message: 'the run was canceled' }))
    signal?.addEventListener('abort', cancel)
    if (signal?.aborted) cancel()
    timer = setTimeout(() => {
      const message = `the hosts met at ${address}:${port} and did not reach each other within ${seconds} s`
      const hint = 'Every host must be able to connect to every other on all ports above 1023.'
      reject(new AgentGymError({ code: 'rank_lost', message, hint }))
    }, seconds * 1_000)
  })
  return Promise.race([meeting, ended]).finally(() => {
    clearTimeout(timer)
    if (cancel !== undefined) signal?.removeEventListener('abort', cancel)
  })
}

/** What each machine says of itself: its processes, and what must be the same everywhere. */
type Greeting = { processes: number; run: Record<string, string> }

/** Processes of every machine, in the order of the machines. */
async function meet(
  job: TrainingJob,
  hub: RankHub,
  { processes, rendezvous }: Together,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  if (rendezvous === undefined) return [processes]
  const own: Greeting = { processes, run: runOf(job) }
  const { timeoutSeconds = MEETING_SECONDS, secret } = rendezvous
  const proofs = secret === undefined ? {} : { secret: `${secret}/`, proofs: proofsOf(secret, rendezvous.hosts) }
  const meeting = hub.joinHosts({ ...rendezvous, timeoutSeconds, ...proofs }, JSON.stringify(own))
  const greetings = await withinSeconds(timeoutSeconds + GRACE_SECONDS, meeting, rendezvous, signal)
  const hosts = greetings.map((greeting) => JSON.parse(greeting) as Greeting)
  hosts.forEach(({ run }, host) => {
    const field = Object.keys(own.run).find((name) => run[name] !== own.run[name])
    if (field === undefined) return
    throw new AgentGymError({
      code: 'config_invalid',
      message: `node ${host} runs with another ${field} than node ${rendezvous.host}`,
      hint: 'Start the same command on every node: only --node-rank, --processes and --out may differ.',
      data: { field },
    })
  })
  return hosts.map((host) => host.processes)
}

function runOf({ scenario, plan, seed, checkpoint, start }: TrainingJob): Greeting['run'] {
  const { rollout_workers: _, learner_threads: __, ...settings } = plan.settings
  return {
    scenario: scenario.identity.hash,
    settings: sha256(Buffer.from(JSON.stringify([plan.algorithm, settings]))),
    seed: String(seed),
    checkpoint: checkpoint === null ? 'none' : sha256(checkpoint),
    'agent to start from': start === null ? 'none' : sha256(new Uint8Array(start.weights.buffer)),
  }
}

/** What the processes of this machine play: environments side by side, for GRPO whole groups. */
function placesOf({ plan }: TrainingJob, processes: number, hosts: number[], host: number): RankPlace[] {
  const size = hosts.reduce((sum, one) => sum + one, 0)
  const first = hosts.slice(0, host).reduce((sum, one) => sum + one, 0)
  const group = plan.algorithm === 'grpo' ? plan.settings.group_size : 1
  const allEnvironments = environmentsOf(plan)
  const groups = allEnvironments / group
  if (groups < size) {
    const [name, what] = group === 1 ? ['environments', 'environments'] : ['groups', 'groups of episodes']
    throw new AgentGymError({
      code: 'config_invalid',
      message: `${groups} ${what} cannot be shared by ${size} processes`,
      hint: `Use at most ${groups} processes, or --set ${name}=${size}.`,
      data: { field: 'processes' },
    })
  }
  const shares = splitEnvironments(groups, size)
  return Array.from({ length: processes }, (_, local) => {
    const { firstEnvironment, environments } = shares[first + local]
    const place = { firstEnvironment: firstEnvironment * group, environments: environments * group, allEnvironments }
    return { local, rank: first + local, size, ...place }
  })
}
