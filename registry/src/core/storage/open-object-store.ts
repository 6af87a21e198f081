import { AgentGymError } from '@agentgym/contract'
import type { Outage } from '../dependencies/outage.ts'
import { openDiskObjectStore } from './disk-object-store.ts'
import type { ObjectStore } from './object-store.ts'
import type { S3Address } from './s3-bucket.ts'
import { openS3ObjectStore } from './s3-object-store.ts'
import { namingOutages } from './storage-outage.ts'

/** A bucket, or a folder. */
export type ObjectStoreAddress = S3Address | { folder: string }

/**
 * Opens a bucket or a folder; `onOutage` receives every outage of an operation. A bucket that is down is opened anyway.
 * Throws `storage_unavailable` if the bucket does not exist or denies access.
 */
export async function openObjectStore(
  address: ObjectStoreAddress,
  onOutage: (outage: Outage) => void = () => {},
): Promise<ObjectStore> {
  const store = 'bucket' in address ? await openS3ObjectStore(address) : await openDiskObjectStore(address.folder)
  return namingOutages(store, onOutage)
}

/** Undefined if the environment names no bucket. The SDK finds the credentials. Throws `config_invalid`. */
export function s3AddressFrom(environment: NodeJS.ProcessEnv): S3Address | undefined {
  const setting = (name: string) => environment[`AGENTGYM_S3_${name}`] || undefined
  const bucket = setting('BUCKET')
  if (bucket === undefined) return undefined
  const prefix = setting('PREFIX')
  const endpoint = setting('ENDPOINT')
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw configInvalid('ENDPOINT', endpoint, 'a URL such as https://minio.example:9000')
  return {
    bucket,
    prefix: prefix && !prefix.endsWith('/') ? `${prefix}/` : prefix,
    region: setting('REGION') ?? environment.AWS_REGION,
    endpoint,
    pathStyle: parseSwitch('PATH_STYLE', setting('PATH_STYLE')) ?? endpoint !== undefined,
  }
}

function parseSwitch(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (text === '1' || text === 'true') return true
  if (text === '0' || text === 'false') return false
  throw configInvalid(name, text, '1 or 0')
}

function configInvalid(name: string, value: string, expected: string): AgentGymError {
  return new AgentGymError({
    code: 'config_invalid',
    message: `AGENTGYM_S3_${name} is ${JSON.stringify(value)}; it must be ${expected}.`,
    data: { field: `AGENTGYM_S3_${name}` },
  })
}
