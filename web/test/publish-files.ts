import { type createClient, leaseJob, sendResult } from '@agentgym/client'
import type { TestSite } from '@agentgym/testkit/site'
import { goodEntries } from '../../testdata/tarballs/good-package.ts'
import { archive, gzip } from '../../testdata/tarballs/tar-writer.ts'
import { clientOf } from './publish-sampled.ts'

type PublishFiles = (base: string, version: string, files: Record<string, string | Buffer>) => Promise<void>

/** Publishes versions of `@acme/BASE` with these files in place of the README that they would have, and has them checked. */
export async function openFilePublisher(site: TestSite): Promise<PublishFiles> {
  const author = await clientOf(site, await site.browserOf('acme'), ['packages:read', 'packages:publish'])
  const worker = await clientOf(site, await site.browserOf('operator'), ['worker'])
  return async (base, version, files) => {
    const name = `@acme/${base}`
    const [manifest, , ...rest] = goodEntries({ name, version })
    const own = Object.entries(files).map(([path, body]) => ({ path: `package/${path}`, body }))
    const body = new Uint8Array(gzip(archive([manifest, ...own, ...rest])))
    const headers = { 'content-type': 'application/octet-stream' }
    await author.send(`/v1/packages/${name}/versions/${version}`, { method: 'PUT', body, headers })
    await passCheck(worker, { name, version })
    await site.settled()
  }
}

async function passCheck(worker: ReturnType<typeof createClient>, checked: { name: string; version: string }) {
  const leased = await leaseJob(worker, { kinds: ['check'] })
  if (leased === undefined) throw new Error('No check waits.')
  const report = { ok: true, ...checked, checks: [{ id: 'loads', ok: true, message: 'It loads.' }] }
  await sendResult(worker, leased.job, report, { sample: null })
}
