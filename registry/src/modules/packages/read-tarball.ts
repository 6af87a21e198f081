import { createHash, type Hash } from 'node:crypto'
import { modelLimits } from '@agentgym/contract/model'
import type { ServerConfig } from '../../core/services.ts'
import { inflateGzip } from './inflate-gzip.ts'
import { maxManifestBytes, parseManifest } from './parse-manifest.ts'
import { readTar, type TarEntry } from './read-tar.ts'
import { shownPath, tarballFailure } from './tarball-failure.ts'
import { PathSet, vetTarballPath } from './tarball-path.ts'

export type TarballLimits = ServerConfig['limits']

export type TarballFile = { path: string; size: number }

/** What a tarball holds, read once: everything that the registry says of a package comes from here. */
export type Tarball = {
  /** package.json, parsed; not vetted beyond its form. */
  manifest: Record<string, unknown>
  /** README at the root; null where there is none. */
  readme: string | null
  /** CHANGELOG.md at the root; null where there is none, or none that a page could show. */
  changelog: string | null
  /** Regular files below `package/`, in the archive's order. */
  files: TarballFile[]
  /** Bytes of the tarball. */
  size: number
  /** Sum of the files' bytes. */
  unpackedSize: number
  /** `sha512-…` (base64), as npm's lockfiles hold it. */
  integrity: string
  /** SHA-1 (hex), for old clients. */
  shasum: string
  /** SHA-256 (hex) of dist/scenario.js; null without one. */
  bundleHash: string | null
  /** agent.json, not parsed; null without it. */
  agentJson: Buffer | null
  /** model.onnx, not walked; null without it. Its bytes are null where they are more than any model may have. */
  model: { hash: string; bytes: Buffer | null } | null
}

const maxReadmeBytes = 512 * 1024
/** Small archives of text pack very well: below this the ratio says nothing. */
const ratioFreeBytes = 1024 * 1024
const manifestPath = 'package.json'
const agentPath = 'agent.json'
const modelPath = 'model.onnx'
/** Hashed in passing. */
const bundlePath = 'dist/scenario.js'
const changelogPath = /^changelog(?:\.(?:md|markdown))?$/i
const readmePath = /^readme(?:\.(?:md|markdown|txt))?$/i

/**
 * Reads an uploaded tarball as a stream that stops at its limits. It holds at most package.json, README and changelog, an
 * agent's manifest and model and one piece of the rest, whatever the archive unpacks to. Throws the codes `tarball_…` and `package_manifest_…`.
 */
export async function readTarball(bytes: Uint8Array, limits: TarballLimits): Promise<Tarball> {
  if (bytes.length > limits.tarballBytes) {
    const message = `The tarball has ${bytes.length} bytes; at most ${limits.tarballBytes} are taken.`
    throw tarballFailure(
      'tarball_too_large',
      message,
      { limit: limits.tarballBytes },
      'Leave large data out by `files` in package.json.',
    )
  }
  const reader = new TarballReader(limits)
  for await (const part of readTar(limitUnpacked(inflateGzip(bytes), bytes.length, limits))) {
    if ('entry' in part) reader.startEntry(part.entry)
    else reader.addBytes(part.bytes)
  }
  return {
    ...reader.finish(),
    size: bytes.length,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    shasum: createHash('sha1').update(bytes).digest('hex'),
  }
}

async function* limitUnpacked(
  pieces: AsyncIterable<Buffer>,
  packed: number,
  limits: TarballLimits,
): AsyncGenerator<Buffer> {
  let unpacked = 0
  for await (const piece of pieces) {
    unpacked += piece.length
    if (unpacked > limits.unpackedBytes) {
      const message = `The files have more than ${limits.unpackedBytes} bytes unpacked.`
      throw tarballFailure(
        'tarball_unpacked_too_large',
        message,
        { limit: limits.unpackedBytes },
        'Leave large data out by `files` in package.json.',
      )
    }
    if (unpacked > ratioFreeBytes && unpacked > packed * limits.ratio) {
      const message = `The tarball unpacks to more than ${limits.ratio} times its size.`
      throw tarballFailure(
        'tarball_ratio_too_high',
        message,
        { limit: limits.ratio },
        'Leave out files that repeat one thing.',
      )
    }
    yield piece
  }
}

class TarballReader {
  readonly #limits: TarballLimits
  readonly #paths = new PathSet()
  readonly #files: TarballFile[] = []
  #entries = 0
  #unpackedSize = 0
  #manifest: Buffer[] | undefined
  #readme: { path: string; pieces: Buffer[] } | undefined
  #changelog: Buffer[] | undefined
  #agent: Buffer[] | undefined
  #bundle: Hash | undefined
  #model: { hash: Hash; pieces: Buffer[] | null } | undefined
  #sink: (bytes: Buffer) => void = ignore

  constructor(limits: TarballLimits) {
    this.#limits = limits
  }

  startEntry(entry: TarEntry): void {
    this.#sink = ignore
    if (++this.#entries > this.#limits.files) {
      const message = `The tarball holds more than ${this.#limits.files} files and folders.`
      throw tarballFailure(
        'tarball_too_many_files',
        message,
        { limit: this.#limits.files },
        'List what belongs in under `files` in package.json.',
      )
    }
    const path = vetTarballPath(entry.path, entry.type)
    if (path === '') return
    this.#paths.add(path, entry.type)
    if (entry.type === 'directory') return
    this.#files.push({ path, size: entry.size })
    this.#unpackedSize += entry.size
    this.#sink = this.#sinkFor(path, entry.size)
  }

  addBytes(bytes: Buffer): void {
    this.#sink(bytes)
  }

  finish(): Omit<Tarball, 'size' | 'integrity' | 'shasum'> {
    if (this.#manifest === undefined)
      throw tarballFailure('package_manifest_missing', 'The tarball holds no package/package.json.')
    return {
      manifest: parseManifest(Buffer.concat(this.#manifest)),
      readme: this.#readme === undefined ? null : decodeReadme(this.#readme),
      changelog: this.#changelog === undefined ? null : decodeText(this.#changelog),
      files: this.#files,
      unpackedSize: this.#unpackedSize,
      bundleHash: this.#bundle?.digest('hex') ?? null,
      agentJson: this.#agent === undefined ? null : Buffer.concat(this.#agent),
      model: this.#finishModel(),
    }
  }

  #finishModel(): Tarball['model'] {
    if (this.#model === undefined) return null
    const { hash, pieces } = this.#model
    return { hash: hash.digest('hex'), bytes: pieces === null ? null : Buffer.concat(pieces) }
  }

  #sinkFor(path: string, size: number): (bytes: Buffer) => void {
    if (path === manifestPath) {
      this.#manifest = []
      return keep(this.#manifest, path, size)
    }
    if (path === agentPath) {
      this.#agent = []
      return keep(this.#agent, path, size)
    }
    if (path === bundlePath) {
      const hash = createHash('sha256')
      this.#bundle = hash
      return (bytes) => hash.update(bytes)
    }
    if (path === modelPath) {
      const model = { hash: createHash('sha256'), pieces: size > modelLimits.bytes ? null : ([] as Buffer[]) }
      this.#model = model
      return (bytes) => {
        model.hash.update(bytes)
        model.pieces?.push(bytes)
      }
    }
    // README.md before any other spelling: npm shows that one too.
    if (readmePath.test(path) && (this.#readme === undefined || path.toLowerCase() === 'readme.md')) {
      if (size > maxReadmeBytes) throw readmeInvalid(path, `has ${size} bytes; at most ${maxReadmeBytes} are taken`)
      const pieces: Buffer[] = []
      this.#readme = { path, pieces }
      return (bytes) => pieces.push(bytes)
    }
    // Nobody refuses a package for what its changelog is.
    if (changelogPath.test(path) && this.#changelog === undefined && size <= maxReadmeBytes) {
      const pieces: Buffer[] = []
      this.#changelog = pieces
      return (bytes) => pieces.push(bytes)
    }
    return ignore
  }
}

function keep(pieces: Buffer[], path: string, size: number): (bytes: Buffer) => void {
  if (size > maxManifestBytes) {
    const message = `${path} has ${size} bytes; at most ${maxManifestBytes} are taken.`
    const hint = 'Keep data in a module of its own.'
    throw tarballFailure('package_manifest_too_large', message, { limit: maxManifestBytes }, hint)
  }
  return (bytes) => pieces.push(bytes)
}

function decodeReadme({ path, pieces }: { path: string; pieces: Buffer[] }): string {
  const text = decodeText(pieces)
  if (text === null) throw readmeInvalid(path, 'is not UTF-8 text')
  return text
}

/** Null where it is not UTF-8, or has a NUL: PostgreSQL has none in text, and no page shows one. */
function decodeText(pieces: Buffer[]): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

function readmeInvalid(path: string, why: string): Error {
  return tarballFailure(
    'package_readme_invalid',
    `${shownPath(path)} ${why}.`,
    { path },
    'Save it as UTF-8 text and link to large pictures.',
  )
}

function ignore(): void {}
