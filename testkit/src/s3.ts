import assert from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { S3Address } from '../../registry/src/core/storage/s3-object-store.ts'
import { runFolder } from './run-folder.ts'

const require = createRequire(import.meta.url)
const s3rver = require.resolve('s3rver/bin/s3rver.js')

/** Starts an S3-compatible server, a process of its own, with one empty bucket. */
export async function startS3(): Promise<{ address: S3Address & { endpoint: string }; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(runFolder(), 's3-'))
  const bucket = 'packages'
  const parameters = ['-d', directory, '-a', '127.0.0.1', '-p', '0', '-s', '--configure-bucket', bucket]
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
    address: {
      bucket,
      endpoint: `http://${await readAddress(server.stdout)}`,
      pathStyle: true,
      credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    },
    stop: async () => {
      process.off('exit', endWithUs)
      server.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true, force: true })
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
