import { expect } from 'vitest'
import { integrityOf, packScenario, publishDocument, servedIntegrityOf } from './scenario-package.ts'

/** `integrity`: of the tarball that the registry serves for it. */
export type Upload = { name: string; version: string; document: string; integrity: string }

export async function upload(name: string, version: string, readme?: string): Promise<Upload> {
  const tarball = await packScenario({ name, version, readme })
  return {
    name,
    version,
    document: publishDocument({ name, version, readme }, tarball),
    integrity: await servedIntegrityOf({ name, version, readme }),
  }
}

/** The status of the answer, or 0 where none came. */
export async function put(url: string, token: string, { name, document }: Upload): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/npm/${name}`, { method: 'PUT', headers, body: document })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

type Served = {
  versions: Record<string, { dist: { tarball: string; integrity: string } }>
  'dist-tags': Record<string, string>
}

export async function packument(url: string, token: string, name: string): Promise<Served> {
  const response = await fetch(`${url}/npm/${name}`, { headers: { authorization: `Bearer ${token}` } })
  if (response.status === 404) return { versions: {}, 'dist-tags': {} }
  expect(response.status).toBe(200)
  return (await response.json()) as Served
}

/** The integrity of what is served at a version's address. */
export async function servedIntegrity(url: string, token: string, name: string, version: string): Promise<string> {
  const address = `${url}/npm/${name}/-/${name.split('/')[1]}-${version}.tgz`
  const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status, address).toBe(200)
  return integrityOf(new Uint8Array(await response.arrayBuffer()))
}
