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
  /** Before every key: `agentgym/`. */
  prefix?: string
  region?: string
  /** Of a server that is not Amazon's: `https://minio.example:9000`. */
  endpoint?: string
  /** The bucket in the path instead of in the host's name, as most servers that are not Amazon's want it. */
  pathStyle?: boolean
  /** By default the SDK looks for them: AWS_ACCESS_KEY_ID, a profile, the machine's role. */
  credentials?: { accessKeyId: string; secretAccessKey: string }
  /** Keys that one request of `list` gives; S3 itself gives 1,000 at most. */
  pageSize?: number
}

/**
 * Objects in a bucket. S3 writes an object whole or not at all and is consistent after that; a key is written again with
 * the same bytes only, so nothing has to be conditional. Throws `storage_unavailable` where the bucket cannot be reached.
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
          // The server refuses what arrives damaged.
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
    // By default every upload and download carries a checksum of the SDK's own, which other servers trip over; ours is there.
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
