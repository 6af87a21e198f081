import { createHash } from 'node:crypto'
import { collectTarballFiles, type TarballLimits } from '@agentgym/contract/tarball'
import type { PictureType } from '../../../core/database/pictures-schema.ts'
import { readmePicturePath } from '../../../core/http/package-path.ts'
import type { Tarball } from '../read-tarball.ts'
import { changelogSection } from './changelog-section.ts'
import type { ShownPictures } from './markdown-html.ts'
import { pictureSize } from './picture-size.ts'
import type { ReadmeRenderer } from './readme-renderer.ts'

/** A picture that a README shows. */
export type ReadmePicture = { hash: string; type: PictureType; bytes: Buffer }

/** Documents of a version for its pages. */
export type VersionDocuments = {
  readmeHtml: string
  pictures: ReadmePicture[]
  /** Release notes of this version, from its changelog; null if it has none. */
  changes: { markdown: string; html: string } | null
}

/** Larger or additional images are shown as text. */
const limits = { pictures: 20, bytesEach: 2 * 1024 * 1024, bytes: 10 * 1024 * 1024 }

/** Renders the documents for `account`, once for all readers, from a tarball already read as `tarball`. */
export async function readDocuments(
  readmes: ReadmeRenderer,
  { bytes, tarball }: { bytes: Uint8Array; tarball: Pick<Tarball, 'readme' | 'changelog' | 'files'> },
  tarballLimits: TarballLimits,
  { name, version, account }: { name: string; version: string; account?: string },
): Promise<VersionDocuments> {
  const { readme, changelog, files } = tarball
  const section = changelog === null ? null : changelogSection(changelog, version)
  const changes =
    section === null ? null : { markdown: section, html: (await readmes.render(section, {}, { account })).html }
  const { html, named } = await readmes.render(readme ?? '', {}, { account })
  const found = await findPictures(bytes, files, named, tarballLimits)
  if (found.length === 0) return { readmeHtml: html, pictures: [], changes }
  const shown: ShownPictures = {}
  for (const { path, picture, width, height } of found)
    shown[path] = { address: readmePicturePath(name, version, picture.hash), width, height }
  const withPictures = await readmes.render(readme ?? '', shown, { account })
  const once = new Map(found.map(({ picture }) => [picture.hash, picture]))
  return { readmeHtml: withPictures.html, pictures: [...once.values()], changes }
}

type Found = { path: string; picture: ReadmePicture; width: number; height: number }

/** The first referenced files that exist, are images and are small enough. */
async function findPictures(
  bytes: Uint8Array,
  files: Tarball['files'],
  named: string[],
  tarballLimits: TarballLimits,
): Promise<Found[]> {
  const sizes = new Map(files.map(({ path, size }) => [path, size]))
  const wanted = new Set<string>()
  let total = 0
  for (const path of named) {
    const size = sizes.get(path) ?? Number.POSITIVE_INFINITY
    if (size > limits.bytesEach || total + size > limits.bytes || wanted.size === limits.pictures) continue
    wanted.add(path)
    total += size
  }
  if (wanted.size === 0) return []
  const bytesOf = (path: string) => (wanted.has(path) ? limits.bytesEach : undefined)
  const read = await collectTarballFiles(bytes, tarballLimits, 'stored', bytesOf)
  return [...read].flatMap(([path, body]) => {
    const size = pictureSize(body)
    if (size === null) return []
    const { type, width, height } = size
    return [
      { path, picture: { hash: createHash('sha256').update(body).digest('hex'), type, bytes: body }, width, height },
    ]
  })
}
