import {
  AgentGymError,
  agentUploadSchema,
  type CallAnswer,
  type CheckReport,
  callAnswersTakenSchema,
  type EvaluationResultRequest,
  type GangSeat,
  type Heartbeat,
  heartbeatSchema,
  type JobKind,
  type LeasedCalls,
  type LeasedJob,
  leasedCallsSchema,
  leaseResponseSchema,
  type Outcome,
  type ProgressRequest,
  type ReplayResultRequest,
  type RunEpisode,
  type SampleEpisode,
  type Trajectory,
  uploadPartSchema,
  type WorkerDescription,
  type WorkerUsage,
  workerProtocol,
  workerProtocolHeader,
} from '@agentgym/contract'
import type { Client } from './create-client.ts'

/** Sent with every write about a job. */
type JobLease = Pick<LeasedJob, 'id' | 'lease'>

export type LeaseTerm = {
  /** How long the lease holds from when the server answered, by the server's own clock: ours may be wrong. */
  leaseMs: number
  /** Of a training job: why it is to end, with a checkpoint. */
  stop: Heartbeat['stop']
}

type LeaseRequest = {
  kinds: JobKind[]
  worker?: WorkerDescription
  /** Only the job of this run. */
  run?: string | undefined
  /** Numbers of the worker's GPUs that no run has. Default: all. */
  freeGpus?: number[]
  /** Only trainings that need a GPU. */
  gpuOnly?: boolean | undefined
  /** Called where we get a seat in a run of several workers, which asking for that run's job keeps. */
  onSeat?(seat: GangSeat): void
  signal?: AbortSignal
}

const asWorker = { [workerProtocolHeader]: workerProtocol }

/** Of a download or an upload under a lease. */
export function leaseHeaders(lease: string): Record<string, string> {
  return { 'agentgym-lease': lease }
}

/**
 * Where a worker fetches what belongs to its job: from the server that it works for, by the address that it has of it. The server
 * only knows the address of its users, which a worker beside it may not reach.
 */
export function jobAddress(address: string): string {
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** Throws `worker_incompatible` for the response of a server that does not read leases where we write them. */
function requireProtocol(response: Response): void {
  if (response.headers.get(workerProtocolHeader) === workerProtocol) return
  throw new AgentGymError({
    code: 'worker_incompatible',
    message: 'The server is of another release than this worker, and they cannot work together.',
    hint: 'Update the server first, then its workers.',
  })
}

/** The next job of one of `kinds`, leased to us; undefined where there is none, or where we get a seat in a run. */
export async function leaseJob(
  client: Client,
  { kinds, worker, run, freeGpus, gpuOnly, onSeat, signal }: LeaseRequest,
): Promise<(LeaseTerm & { job: LeasedJob }) | undefined> {
  const response = await postJson(
    client,
    '/v1/jobs/lease',
    { kinds, worker, run, free_gpus: freeGpus, ...(gpuOnly ? { gpu_only: true } : {}) },
    signal,
    asWorker,
  )
  if (response.status === 204) {
    requireProtocol(response)
    return undefined
  }
  const job = leaseResponseSchema.parse(await response.json())
  if ('seat' in job) return void onSeat?.(job.seat)
  try {
    requireProtocol(response)
  } catch (error) {
    // Kept until its lease ends, the job would have one attempt less.
    await releaseJob(client, job, { reason: 'the server is of another release', signal })
    throw error
  }
  return { job, leaseMs: leaseMs(response, job.expires_at), stop: null }
}

/** Keeps the lease. Throws `lease_lost` where it is not ours any more, as every function below does. */
export async function sendHeartbeat(
  client: Client,
  { id, lease }: JobLease,
  { usage, signal }: { usage?: WorkerUsage; signal?: AbortSignal } = {},
): Promise<LeaseTerm> {
  return term(await postJson(client, jobPath(id, 'heartbeat'), { lease, usage }, signal))
}

/** Of a run of several workers: the attempt failed for all of them, or one worker's part in it is done. */
export type SeatEnd = 'failed' | 'finished'

/** Gives a job back: the next worker has it at once. */
export async function releaseJob(
  client: Client,
  { id, lease }: JobLease,
  { reason, meteredMs, end, signal }: { reason: string; meteredMs?: number; end?: SeatEnd; signal?: AbortSignal },
): Promise<void> {
  const ended = end === undefined ? {} : { [end]: true }
  await postJson(client, jobPath(id, 'release'), { lease, metered_ms: meteredMs, reason, ...ended }, signal)
}

/** Hands in what a check found, and an episode for pictures. */
export async function sendResult(
  client: Client,
  { id, lease }: JobLease,
  report: CheckReport,
  { sample, signal }: { sample?: SampleEpisode | null; signal?: AbortSignal } = {},
): Promise<void> {
  await postJson(client, jobPath(id, 'result'), { lease, report, sample_episode: sample }, signal)
}

/** Hands in what became of an evaluation's tasks. */
export async function sendEvaluation(
  client: Client,
  { id, lease }: JobLease,
  result: Omit<EvaluationResultRequest, 'lease'>,
  signal?: AbortSignal,
): Promise<void> {
  await postJson(client, jobPath(id, 'evaluation'), { lease, ...result }, signal)
}

/** Hands in what a replay gave: an episode, or why the actions are none. */
export async function sendReplay(
  client: Client,
  { id, lease }: JobLease,
  result: Omit<ReplayResultRequest, 'lease'>,
  signal?: AbortSignal,
): Promise<void> {
  await postJson(client, jobPath(id, 'replay'), { lease, ...result }, signal)
}

/** Reports iterations of a run and keeps the lease. What the run has already counts once. */
export async function sendProgress(
  client: Client,
  { id, lease }: JobLease,
  progress: Omit<ProgressRequest, 'lease'>,
  signal?: AbortSignal,
): Promise<LeaseTerm> {
  return term(await postJson(client, jobPath(id, 'progress'), { lease, ...progress }, signal))
}

export type CheckpointUpload = {
  bytes: Uint8Array
  /** SHA-256 (hex) of the bytes. */
  sha256: string
  iteration: number
  steps: number
  seconds: number
  meteredMs: number
}

/** Stores a checkpoint that the run may go on from, and keeps the lease. */
export async function uploadCheckpoint(
  client: Client,
  { id, lease }: JobLease,
  { bytes, meteredMs, ...place }: CheckpointUpload,
  signal?: AbortSignal,
): Promise<LeaseTerm> {
  const path = jobPath(id, 'checkpoint', { ...place, metered_ms: meteredMs })
  return term(await put(client, path, { bytes, lease }, signal))
}

/** Stores a part of an upload, of at most `partBytes`, for an hour; gives its SHA-256 (hex). */
export async function uploadPart(
  client: Client,
  { id, lease }: JobLease,
  bytes: Uint8Array,
  signal?: AbortSignal,
): Promise<string> {
  const response = await put(client, jobPath(id, 'parts'), { bytes, lease }, signal)
  return uploadPartSchema.parse(await response.json()).sha256
}

/** As `uploadCheckpoint`, for parts that are uploaded already: their SHA-256, in order. */
export async function storeCheckpointParts(
  client: Client,
  { id, lease }: JobLease,
  { bytes: _, meteredMs, ...place }: CheckpointUpload,
  parts: string[],
  signal?: AbortSignal,
): Promise<LeaseTerm> {
  const body = { lease, parts, ...place, metered_ms: meteredMs }
  return term(await postJson(client, jobPath(id, 'checkpoint'), body, signal))
}

/** As `uploadAgent`, for parts that are uploaded already: their SHA-256, in order. */
export async function storeAgentParts(
  client: Client,
  { id, lease }: JobLease,
  parts: string[],
  signal?: AbortSignal,
): Promise<string> {
  const response = await postJson(client, jobPath(id, 'agent'), { lease, parts }, signal)
  return agentUploadSchema.parse(await response.json()).integrity
}

/** At most a hundred at a time. */
export async function sendTrajectories(
  client: Client,
  { id, lease }: JobLease,
  trajectories: Trajectory[],
  signal?: AbortSignal,
): Promise<void> {
  await postJson(client, jobPath(id, 'trajectories'), { lease, trajectories }, signal)
}

export type RunEpisodeUpload = RunEpisode & { episode: SampleEpisode }

/** Stores an episode of an evaluation during training. */
export async function sendRunEpisode(
  client: Client,
  { id, lease }: JobLease,
  episode: RunEpisodeUpload,
  signal?: AbortSignal,
): Promise<void> {
  await postJson(client, jobPath(id, 'episodes'), { lease, ...episode }, signal)
}

/** Stores the trained agent's tarball; gives the integrity that its outcome then names. */
export async function uploadAgent(
  client: Client,
  { id, lease }: JobLease,
  tarball: Uint8Array,
  signal?: AbortSignal,
): Promise<string> {
  const response = await put(client, jobPath(id, 'agent'), { bytes: tarball, lease }, signal)
  return agentUploadSchema.parse(await response.json()).integrity
}

/** Ends a run. */
export async function sendOutcome(
  client: Client,
  { id, lease }: JobLease,
  { meteredMs, outcome }: { meteredMs: number; outcome: Outcome },
  signal?: AbortSignal,
): Promise<void> {
  await postJson(client, jobPath(id, 'outcome'), { lease, metered_ms: meteredMs, outcome }, signal)
}

/** The checkpoint that a run goes on from; what comes back has that SHA-256, or `integrity_mismatch` is thrown. */
export async function downloadCheckpoint(
  client: Client,
  { lease }: Pick<JobLease, 'lease'>,
  { url, sha256 }: { url: string; sha256: string },
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(
    await (await client.send(jobAddress(url), { headers: leaseHeaders(lease), signal })).arrayBuffer(),
  )
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const actual = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  if (actual === sha256) return bytes
  throw new AgentGymError({
    code: 'integrity_mismatch',
    message: `The checkpoint is not what the registry recorded: ${actual} instead of ${sha256}.`,
    hint: 'Tell the operator of the server if it differs again.',
    data: { expected: sha256, actual },
  })
}

function jobPath(id: string, action: string, query: Record<string, string | number> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) search.set(name, String(value))
  return `/v1/jobs/${encodeURIComponent(id)}/${action}${search.size === 0 ? '' : `?${search}`}`
}

async function term(response: Response): Promise<LeaseTerm> {
  const { expires_at, stop } = heartbeatSchema.parse(await response.json())
  return { leaseMs: leaseMs(response, expires_at), stop }
}

function put(
  client: Client,
  path: string,
  { bytes, lease }: { bytes: Uint8Array; lease: string },
  signal?: AbortSignal,
): Promise<Response> {
  const headers = { 'content-type': 'application/octet-stream', ...leaseHeaders(lease) }
  return client.send(path, { method: 'PUT', headers, body: bytes as Uint8Array<ArrayBuffer>, signal })
}

export type LeaseCallsRequest = {
  /** Chosen by the process at its start. */
  workerId: string
  /** As in its description. Required by a token that is bound to one worker. */
  workerName?: string
  /** Ids of versions that it holds loaded: at most 64. */
  loaded: string[]
  /** How long the answer may wait for a call to come: at most 25,000 ms. */
  waitMs: number
  signal?: AbortSignal
}

/** Calls of one version, leased to us for `leaseMs` from now on by the server's clock; undefined where none came. */
export async function leaseCalls(
  client: Client,
  { workerId, workerName, loaded, waitMs, signal }: LeaseCallsRequest,
): Promise<(LeasedCalls & { leaseMs: number }) | undefined> {
  const body = { worker_id: workerId, worker_name: workerName, loaded, wait_ms: waitMs }
  const response = await postJson(client, '/v1/hosted-calls/lease', body, signal, asWorker)
  requireProtocol(response)
  if (response.status === 204) return undefined
  const calls = leasedCallsSchema.parse(await response.json())
  return { ...calls, leaseMs: leaseMs(response, calls.expires_at) }
}

/**
 * Hands in what the agent does upon calls of one lease, each once; asking again does nothing twice. `late` are those that the
 * lease no longer covers: they went to another worker, or their callers are gone. That is not an error.
 */
export async function answerCalls(
  client: Client,
  { lease }: Pick<LeasedCalls, 'lease'>,
  answers: CallAnswer[],
  signal?: AbortSignal,
): Promise<{ taken: number; late: number }> {
  const response = await postJson(client, '/v1/hosted-calls/answers', { lease, answers }, signal)
  return callAnswersTakenSchema.parse(await response.json())
}

/**
 * How long a lease holds from when the server answered, in milliseconds by the server's own clock: ours may be wrong. The header
 * `date` is that clock when it answered; its milliseconds are cut off, so it is at most a second early.
 */
function leaseMs(response: Response, expiresAt: string): number {
  const answeredAt = Date.parse(response.headers.get('date') ?? '')
  return Math.max(0, Date.parse(expiresAt) - (Number.isNaN(answeredAt) ? Date.now() : answeredAt + 999))
}

function postJson(
  client: Client,
  path: string,
  body: unknown,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...more }
  return client.send(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
}
