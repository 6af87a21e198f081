import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import type { Env } from '../../core/http/env.ts'
import { tarballPath } from '../../core/http/package-path.ts'
import { builtInName } from '../packages/index.ts'
import { nothingHere } from './npm-errors.ts'
import type { ReadTarget } from './npm-path.ts'

/** The package that authors import, as this installation has it: its package.json and its tarball. */
export type BuiltInPackage = { manifest: { version: string; [field: string]: unknown }; tarball: Uint8Array }

/** Makes the package; called once, by the first request. */
export type OpenBuiltIn = () => Promise<BuiltInPackage>

export type BuiltInReader = (c: Context<Env>, target: ReadTarget) => Promise<Response> | undefined

/**
 * Serves `@agentgym/scenario` to npm's clients, read-only, from the running installation: nothing of it is in the database, and
 * its name is reserved. Undefined for other packages, and without `open`.
 */
export function builtInReader(open: OpenBuiltIn | undefined, publicUrl: string): BuiltInReader {
  let opened: Promise<Served> | undefined
  return (c, target) => {
    if (open === undefined || target.name.toLowerCase() !== builtInName) return undefined
    opened ??= open()
      .then((found) => servedAs(found, publicUrl))
      .catch((error) => {
        opened = undefined
        throw error
      })
    return opened.then((served) => answer(c, target, served))
  }
}

type Served = { packument: object; version: string; manifest: object; tarball: Uint8Array<ArrayBuffer>; file: string }

function servedAs({ manifest, tarball }: BuiltInPackage, publicUrl: string): Served {
  const { version } = manifest
  const hash = (algorithm: string, encoding: 'hex' | 'base64') => createHash(algorithm).update(tarball).digest(encoding)
  const path = tarballPath(builtInName, version)
  const dist = {
    tarball: publicUrl + path,
    integrity: `sha512-${hash('sha512', 'base64')}`,
    shasum: hash('sha1', 'hex'),
  }
  const whole = { ...manifest, name: builtInName, _id: `${builtInName}@${version}`, dist }
  const packument = { name: builtInName, 'dist-tags': { latest: version }, versions: { [version]: whole } }
  return {
    packument,
    version,
    manifest: whole,
    tarball: Uint8Array.from(tarball),
    file: path.slice(path.lastIndexOf('/') + 1),
  }
}

function answer(
  c: Context<Env>,
  target: ReadTarget,
  { packument, version, manifest, tarball, file }: Served,
): Response {
  // Another release of the server may have another version: clients revalidate.
  c.header('cache-control', 'no-cache')
  if (target.kind === 'package') return c.json(packument)
  if (target.kind === 'version' && [version, 'latest'].includes(target.version)) return c.json(manifest)
  if (target.kind === 'tarball' && target.file === file)
    return c.body(tarball, 200, { 'content-type': 'application/octet-stream' })
  throw nothingHere(c)
}
