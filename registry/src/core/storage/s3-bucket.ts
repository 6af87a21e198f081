import { Readable } from 'node:stream'
import { AgentGymError } from '@agentgym/contract'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { reasonOf } from '../dependencies/outage.ts'

export type S3Address = {
  bucket: string
  /** Prefix of every key: `agentgym/`. */
  prefix?: string
  region?: string
  /** For servers other than Amazon's: `https://minio.example:9000`. */
  endpoint?: string
  /** Puts the bucket in the path instead of the host name, as most servers other than Amazon's require. */
  pathStyle?: boolean
  /** By default the SDK looks for them: AWS_ACCESS_KEY_ID, a profile, the machine's role. */
  credentials?: { accessKeyId: string; secretAccessKey: string }
  /** Keys that one `list` request returns; S3 itself returns 1,000 at most. */
  pageSize?: number
}

/** Timeout of one attempt and of all attempts, in milliseconds; uploads get more time by size. */
const limits = { attemptMs: 8_000, allMs: 20_000, probeMs: 4_000 }
/** Minimum upload rate. */
const uploadBytesPerMs = 1_000

/** Files in a bucket. A file is written completely or not at all, and S3 is consistent afterwards. */
export type S3Bucket = {
  /** `sha256` is that of the bytes (hex): the server rejects an upload that arrives damaged. */
  put(key: string, bytes: Uint8Array, sha256: string): Promise<void>
  /** Undefined if there is none. */
  get(key: string): Promise<Uint8Array | undefined>
  stream(key: string): Promise<{ body: Readable; size: number } | undefined>
  has(key: string): Promise<boolean>
  delete(key: string): Promise<void>
  /** Every key that begins with `start`, in order. */
  list(start: string): AsyncIterable<{ key: string; writtenAt: Date }>
  /** Rejects if the bucket cannot be used now. */
  check(): Promise<void>
}

/**
 * A bucket that does not respond is opened anyway; operations fail until it does. Keys are those below the address's
 * prefix. Throws `storage_unavailable` if the bucket denies access.
 */
export async function openS3Bucket(address: S3Address): Promise<S3Bucket> {
  const client = createClient(address)
  const Bucket = address.bucket
  const prefix = address.prefix ?? ''
  const named = (key: string) => ({ Bucket, Key: `${prefix}${key}` })
  const check = async () => {
    await inTime(limits.probeMs, (options) => client.send(new HeadBucketCommand({ Bucket }), options))
  }
  await check().catch((cause) => {
    if (isRefusal(cause)) throw unusable(address, cause)
  })
  const open = (key: string) =>
    unlessMissing(inTime(limits.allMs, (options) => client.send(new GetObjectCommand(named(key)), options)))
  return {
    put: async (key, bytes, sha256) => {
      const upload = new PutObjectCommand({
        ...named(key),
        Body: bytes,
        ContentLength: bytes.length,
        ContentType: 'application/octet-stream',
        ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
      })
      const uploadMs = bytes.length / uploadBytesPerMs
      await inTime(limits.allMs + uploadMs, (options) => client.send(upload, options), limits.attemptMs + uploadMs)
    },
    get: async (key) => (await open(key))?.Body?.transformToByteArray(),
    stream: async (key) => {
      const found = await open(key)
      return found?.Body instanceof Readable ? { body: found.Body, size: found.ContentLength ?? 0 } : undefined
    },
    has: async (key) => {
      const head = new HeadObjectCommand(named(key))
      return (await unlessMissing(inTime(limits.allMs, (options) => client.send(head, options)))) !== undefined
    },
    delete: async (key) => {
      await inTime(limits.allMs, (options) => client.send(new DeleteObjectCommand(named(key)), options))
    },
    list: (start) => listKeys(client, address, start),
    check,
  }
}

type SendOptions = { abortSignal: AbortSignal; requestTimeout: number }

/**
 * Fails after `allMs` without a response and retries after `attemptMs`. Once the response starts, its body may take
 * longer.
 */
async function inTime<Result>(
  allMs: number,
  send: (options: SendOptions) => Promise<Result>,
  attemptMs: number = limits.attemptMs,
): Promise<Result> {
  const expiry = new AbortController()
  const late = Object.assign(new Error(`no answer within ${allMs / 1_000} s`), { name: 'TimeoutError' })
  const timer = setTimeout(() => expiry.abort(late), allMs)
  try {
    return await send({ abortSignal: expiry.signal, requestTimeout: Math.min(attemptMs, allMs) })
  } finally {
    clearTimeout(timer)
  }
}

function createClient({ region = 'us-east-1', endpoint, pathStyle = false, credentials }: S3Address): S3Client {
  return new S3Client({
    region,
    endpoint,
    forcePathStyle: pathStyle,
    credentials,
    maxAttempts: 4,
    // Without `throwOnRequestTimeout` a request that is never answered is only logged. The socket timeout applies to
    // downloads that stall, or whose reader does.
    requestHandler: { connectionTimeout: 5_000, throwOnRequestTimeout: true, socketTimeout: 120_000 },
    // By default the SDK adds its own checksum to uploads and downloads, which other servers reject; we send ours.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

/** The server responds with a permanent error: a wrong name, region or key. Waiting does not help. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
  return status !== undefined && status < 500 && status !== 408 && status !== 429
}

function unusable({ bucket, endpoint }: S3Address, cause: unknown): AgentGymError {
  return new AgentGymError(
    {
      code: 'storage_unavailable',
      message: `The bucket ${bucket} cannot be used: ${reasonOf(cause)}.`,
      hint: 'Check AGENTGYM_S3_BUCKET, AGENTGYM_S3_ENDPOINT, AGENTGYM_S3_REGION and the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).',
      data: { bucket, endpoint },
    },
    { cause },
  )
}

async function* listKeys(
  client: S3Client,
  { bucket: Bucket, prefix = '', pageSize: MaxKeys }: S3Address,
  start: string,
): AsyncIterable<{ key: string; writtenAt: Date }> {
  let ContinuationToken: string | undefined
  do {
    const next = new ListObjectsV2Command({ Bucket, Prefix: `${prefix}${start}`, MaxKeys, ContinuationToken })
    const page: ListObjectsV2CommandOutput = await inTime(limits.allMs, (options) => client.send(next, options))
    for (const { Key = '', LastModified } of page.Contents ?? [])
      if (LastModified) yield { key: Key.slice(prefix.length), writtenAt: LastModified }
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken)
}

async function unlessMissing<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result
  } catch (error) {
    const isMissing = error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404
    // A missing bucket is not a missing object.
    if (isMissing && error.name !== 'NoSuchBucket') return undefined
    throw error
  }
}
