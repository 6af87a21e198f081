import assert from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { S3Address } from '../../registry/src/core/storage/s3-bucket.ts'
import { runFolder } from './run-folder.ts'

const require = createRequire(import.meta.url)
const s3rver = require.resolve('s3rver/bin/s3rver.js')

export type TestS3 = {
  address: S3Address & { endpoint: string }
  /** Kills the server; its objects stay. */
  pause(): Promise<void>
  /** Starts it again, at the same address. */
  resume(): Promise<void>
  stop(): Promise<void>
}

/** Starts an S3-compatible server, a process of its own, with one empty bucket. */
export async function startS3(): Promise<TestS3> {
  const directory = await mkdtemp(join(runFolder(), 's3-'))
  const bucket = 'packages'
  let running = await run(directory, bucket, 0)
  const { host } = running
  return {
    address: {
      bucket,
      endpoint: `http://${host}`,
      pathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    pause: () => running.kill(),
    resume: async () => {
      running = await run(directory, bucket, Number(host.split(':')[1]))
    },
    stop: async () => {
      await running.kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function run(directory: string, bucket: string, port: number) {
  const parameters = ['-d', directory, '-a', '127.0.0.1', '-p', String(port), '-s', '--configure-bucket', bucket]
  const server = spawn(
    process.execPath,
    // It ciphers the tokens of a long list by DES, which OpenSSL 3 counts as legacy.
    ['--openssl-legacy-provider', s3rver, ...parameters],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const ended = once(server, 'exit')
  const endWithUs = () => server.kill('SIGKILL')
  process.once('exit', endWithUs)
  return {
    host: await readAddress(server.stdout),
    kill: async () => {
      process.off('exit', endWithUs)
      server.kill('SIGKILL')
      await ended
    },
  }
}

async function readAddress(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stdout)) {
    const address = /listening on (\S+)/.exec(line)?.[1]
    if (address) return address
  }
  assert.fail('the S3 server ended before it listened')
}
