import { createHash, type Hash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { modelLimits } from '@agentgym/contract/model'
import type { ServerConfig } from '../../core/services.ts'
import { maxManifestBytes, parseManifest } from './parse-manifest.ts'
import { inflateGzip, readTar, shownPath, type TarEntry, tarballFailure } from './read-tar.ts'

export type TarballLimits = ServerConfig['limits']

export type TarballFile = { path: string; size: number }

/** The contents of a tarball, read once: everything that the registry shows of a package comes from here. */
export type Tarball = {
  /** package.json, parsed; not vetted beyond its form. */
  manifest: Record<string, unknown>
  /** README at the root; null if there is none. */
  readme: string | null
  /** CHANGELOG.md at the root; null if there is none, or none that a page could show. */
  changelog: string | null
  /** Regular files below `package/`, in the archive's order. */
  files: TarballFile[]
  /** Bytes of the tarball. */
  size: number
  /** Sum of the files' bytes. */
  unpackedSize: number
  /** `sha512-…` (base64), as in npm's lockfiles. */
  integrity: string
  /** SHA-1 (hex), for old clients. */
  shasum: string
  /** SHA-256 (hex) of dist/scenario.js; null without one. */
  bundleHash: string | null
  /** agent.json, not parsed; null without it. */
  agentJson: Buffer | null
  /** model.onnx, not validated; null if there is none. Its bytes are null if they exceed the limit for models. */
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
 * Reads an uploaded tarball as a stream that stops at its limits. Keeps at most package.json, README and changelog, an
 * agent's manifest and model and one chunk of the rest in memory, whatever the archive unpacks to. Throws the codes
 * `tarball_…` and `package_manifest_…`.
 */
export async function readTarball(bytes: Uint8Array, limits: TarballLimits): Promise<Tarball> {
  if (bytes.length > limits.tarballBytes) {
    const message = `The tarball has ${bytes.length} bytes; the limit is ${limits.tarballBytes}.`
    throw tarballFailure(
      'tarball_too_large',
      message,
      { limit: limits.tarballBytes },
      'Exclude large data with `files` in package.json.',
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
      const message = `The files exceed ${limits.unpackedBytes} bytes unpacked.`
      throw tarballFailure(
        'tarball_unpacked_too_large',
        message,
        { limit: limits.unpackedBytes },
        'Exclude large data with `files` in package.json.',
      )
    }
    if (unpacked > ratioFreeBytes && unpacked > packed * limits.ratio) {
      const message = `The tarball unpacks to more than ${limits.ratio} times its size.`
      throw tarballFailure(
        'tarball_ratio_too_high',
        message,
        { limit: limits.ratio },
        'Leave out highly repetitive files.',
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
      const message = `The tarball contains more than ${this.#limits.files} files and folders.`
      throw tarballFailure(
        'tarball_too_many_files',
        message,
        { limit: this.#limits.files },
        'List the files to publish under `files` in package.json.',
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
      throw tarballFailure('package_manifest_missing', 'The tarball has no package/package.json.')
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
      if (size > maxReadmeBytes) throw readmeInvalid(path, `has ${size} bytes; the limit is ${maxReadmeBytes}`)
      const pieces: Buffer[] = []
      this.#readme = { path, pieces }
      return (bytes) => pieces.push(bytes)
    }
    // A bad changelog is no reason to refuse a package.
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
    const message = `${path} has ${size} bytes; the limit is ${maxManifestBytes}.`
    const hint = 'Move data to a module of its own.'
    throw tarballFailure('package_manifest_too_large', message, { limit: maxManifestBytes }, hint)
  }
  return (bytes) => pieces.push(bytes)
}

function decodeReadme({ path, pieces }: { path: string; pieces: Buffer[] }): string {
  const text = decodeText(pieces)
  if (text === null) throw readmeInvalid(path, 'is not UTF-8 text')
  return text
}

/** Null if it is not UTF-8, or has a NUL: PostgreSQL does not allow one in text, and no page shows one. */
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
    'Save it as UTF-8 text, and link to large pictures.',
  )
}

function ignore(): void {}

const maxPathBytes = 240
const root = 'package/'
/** Names that Windows keeps for devices, with any extension. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i
/** Characters that Windows does not allow in names, or that a terminal or a page would not show as they are. */
const notPortable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}<>:"|?*\ufffd]/u

/**
 * Validates one path of a tarball, and returns it relative to `package/`: empty for that folder itself. A valid path
 * names one place in one folder, on every system. Throws the codes `tarball_path_…`.
 */
function vetTarballPath(path: string, type: 'file' | 'directory'): string {
  const shown = shownPath(path)
  const data = { path }
  if (path.includes('\0')) throw tarballFailure('tarball_path_nul', `${shown} has a NUL byte in it.`, data)
  if (Buffer.byteLength(path) > maxPathBytes) {
    const message = `${shown} is longer than ${maxPathBytes} bytes.`
    throw tarballFailure('tarball_path_too_long', message, { ...data, limit: maxPathBytes }, 'Shorten the path.')
  }
  if (path.includes('\\')) throw tarballFailure('tarball_path_backslash', `${shown} has a backslash in it.`, data)
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw tarballFailure('tarball_path_absolute', `${shown} is absolute.`, data)
  const plain = type === 'directory' && path.endsWith('/') ? path.slice(0, -1) : path
  const segments = plain.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw tarballFailure('tarball_path_traversal', `${shown} has a segment "..", "." or an empty one.`, data)
  if (!`${plain}/`.startsWith(root) || (plain === 'package' && type === 'file'))
    throw tarballFailure('tarball_path_outside_package', `${shown} does not lie in "package/".`, data)
  const odd = segments.find((segment) => notPortable.test(segment) || /[. ]$/.test(segment) || deviceName.test(segment))
  if (odd !== undefined) {
    const message = `${shown} cannot exist on every system because of ${shownPath(odd)}.`
    throw tarballFailure('tarball_path_not_portable', message, data, 'Rename the file.')
  }
  return plain.slice(root.length)
}

/** Remembers the paths of one tarball and refuses two that are one, here or on a system that folds names. */
class PathSet {
  readonly #paths = new Map<string, { path: string; type: 'file' | 'directory' }>()

  /** Throws `tarball_path_duplicate` or `tarball_path_collision`. A folder may be repeated. */
  add(path: string, type: 'file' | 'directory'): void {
    const segments = path.split('/')
    for (let depth = 1; depth < segments.length; depth++) this.#put(segments.slice(0, depth).join('/'), 'directory')
    this.#put(path, type)
  }

  #put(path: string, type: 'file' | 'directory'): void {
    const folded = foldPath(path)
    const before = this.#paths.get(folded)
    if (before === undefined) {
      this.#paths.set(folded, { path, type })
    } else if (before.path !== path) {
      const message = `${shownPath(before.path)} and ${shownPath(path)} are one path where case or accents do not count.`
      throw tarballFailure('tarball_path_collision', message, { path, other: before.path }, 'Rename one of the two.')
    } else if (before.type !== type) {
      const message = `${shownPath(path)} is a file and a folder.`
      throw tarballFailure('tarball_path_collision', message, { path }, 'Rename one of the two.')
    } else if (type === 'file') {
      throw tarballFailure('tarball_path_duplicate', `${shownPath(path)} occurs twice.`, { path })
    }
  }
}

/** Upper case first: ſ, ß and the like fold as file systems do it; NFKC is wider than any file system's form. */
function foldPath(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}

/**
 * The body of an upload, up to a limit that is enforced while it arrives. Throws `tarball_too_large`,
 * `request_invalid`.
 */
export async function readUpload(request: Request, limitBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body ?? []) {
    length += chunk.length
    if (length > limitBytes) {
      const message = `The tarball has more than ${limitBytes} bytes.`
      const hint = 'Exclude large data with `files` in package.json.'
      throw tarballFailure('tarball_too_large', message, { limit: limitBytes }, hint)
    }
    chunks.push(chunk)
  }
  if (length === 0)
    throw new AgentGymError({
      code: 'request_invalid',
      message: 'The request body is empty; send the tarball.',
    })
  return Buffer.concat(chunks, length)
}
