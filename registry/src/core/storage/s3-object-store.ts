import { pipeline, Readable } from 'node:stream'
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
import { digestOf, isKey, keyOf, type ObjectStore, verifyingStream, verifyObject } from './object-store.ts'

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

/**
 * Objects in a bucket. S3 writes an object completely or not at all and is consistent afterwards. A key is only ever
 * rewritten with the same bytes, so no write has to be conditional. Throws `storage_unavailable` if the bucket cannot
 * be reached.
 */
export async function openS3ObjectStore(address: S3Address): Promise<ObjectStore> {
  const client = createClient(address)
  const Bucket = address.bucket
  const prefix = address.prefix ?? ''
  const named = (key: string) => ({ Bucket, Key: `${prefix}sha256/${digestOf(key)}` })
  await checkBucket(client, address)
  return {
    put: async (bytes) => {
      const key = keyOf(bytes)
      await client.send(
        new PutObjectCommand({
          ...named(key),
          Body: bytes,
          ContentLength: bytes.length,
          ContentType: 'application/octet-stream',
          // The server rejects an upload that arrives damaged.
          ChecksumSHA256: Buffer.from(digestOf(key), 'hex').toString('base64'),
        }),
      )
      return key
    },
    get: async (key) => {
      const found = await unlessMissing(client.send(new GetObjectCommand(named(key))))
      return found?.Body && verifyObject(key, await found.Body.transformToByteArray())
    },
    stream: async (key) => {
      const found = await unlessMissing(client.send(new GetObjectCommand(named(key))))
      if (!(found?.Body instanceof Readable)) return undefined
      const body = verifyingStream(key)
      pipeline(found.Body, body, () => {})
      return { body, size: found.ContentLength ?? 0 }
    },
    has: async (key) => (await unlessMissing(client.send(new HeadObjectCommand(named(key))))) !== undefined,
    delete: async (key) => {
      await client.send(new DeleteObjectCommand(named(key)))
    },
    list: () => listKeys(client, address),
  }
}

function createClient({ region = 'us-east-1', endpoint, pathStyle = false, credentials }: S3Address): S3Client {
  return new S3Client({
    region,
    endpoint,
    forcePathStyle: pathStyle,
    credentials,
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000 },
    // By default the SDK adds its own checksum to uploads and downloads, which other servers reject; we send ours.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

async function checkBucket(client: S3Client, { bucket, endpoint }: S3Address): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message || cause.name : String(cause)
    throw new AgentGymError(
      {
        code: 'storage_unavailable',
        message: `The bucket ${bucket} cannot be used: ${why}.`,
        hint: 'Check AGENTGYM_S3_BUCKET, AGENTGYM_S3_ENDPOINT, AGENTGYM_S3_REGION and the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).',
        data: { bucket, endpoint },
      },
      { cause },
    )
  }
}

async function* listKeys(
  client: S3Client,
  { bucket: Bucket, prefix = '', pageSize: MaxKeys }: S3Address,
): AsyncIterable<{ key: string; writtenAt: Date }> {
  let ContinuationToken: string | undefined
  do {
    const page: ListObjectsV2CommandOutput = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: `${prefix}sha256/`, MaxKeys, ContinuationToken }),
    )
    for (const { Key = '', LastModified } of page.Contents ?? []) {
      const key = Key.slice(prefix.length)
      if (isKey(key) && LastModified) yield { key, writtenAt: LastModified }
    }
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken)
}

async function unlessMissing<Result>(result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined
    throw error
  }
}
