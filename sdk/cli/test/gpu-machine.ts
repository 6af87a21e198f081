import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Puts a program named as NVIDIA's into `folder`, which lists one GPU of 24 GB: a machine with a GPU, as far as a worker sees it. */
export function installGpu(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nvidia-smi')
  writeFileSync(file, "#!/bin/sh\necho 'NVIDIA RTX A5000, 24564, GPU-1a, 580.95.05'\n")
  chmodSync(file, 0o755)
}

export type GpuProxy = { url: string; close(): Promise<void> }

/**
 * A proxy for workers with `installGpu`: it says in their requests for jobs that the learner can compute on it, which the
 * learner of this machine cannot. Setting `auto` then computes on the CPU.
 */
export async function startGpuProxy(target: string): Promise<GpuProxy> {
  const server = createServer(async (incoming, outgoing) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    const sent = Buffer.concat(pieces)
    const { host, 'content-length': length, 'transfer-encoding': transfer, ...headers } = incoming.headers
    const body = incoming.url === '/v1/jobs/lease' ? Buffer.from(withLearner(sent.toString('utf8'))) : sent
    const forwarded = request(
      target + incoming.url,
      { method: incoming.method, headers: { ...headers, 'content-length': body.length } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    forwarded.on('error', () => outgoing.destroy())
    forwarded.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function withLearner(text: string): string {
  const lease = JSON.parse(text)
  if (lease.worker?.cuda !== undefined) lease.worker.cuda.libtorch = '2.9.1'
  return JSON.stringify(lease)
}
