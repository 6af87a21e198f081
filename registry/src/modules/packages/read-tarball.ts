import { createHash, type Hash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import { modelLimits } from '@agentgym/contract/model'
import {
  readTarballFiles,
  shownPath,
  type TarballFile,
  type TarballLimits,
  tarballFailure,
} from '@agentgym/contract/tarball'
import { maxManifestBytes, parseManifest } from './parse-manifest.ts'

/** The contents of a tarball, read once: the source of everything that the registry shows of a package. */
export type Tarball = {
  /** package.json, parsed but not vetted. */
  manifest: Record<string, unknown>
  /** README at the root; null if there is none. */
  readme: string | null
  /** CHANGELOG.md at the root; null if there is none, or it cannot be shown. */
  changelog: string | null
  /** Regular files below `package/`, in the archive's order. */
  files: TarballFile[]
  /** Bytes of the tarball. */
  size: number
  /** Total size of the files in bytes. */
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
const manifestPath = 'package.json'
const agentPath = 'agent.json'
const modelPath = 'model.onnx'
/** Hashed while reading. */
const bundlePath = 'dist/scenario.js'
const changelogPath = /^changelog(?:\.(?:md|markdown))?$/i
const readmePath = /^readme(?:\.(?:md|markdown|txt))?$/i

/**
 * Reads an uploaded tarball as a stream that stops at its limits. Keeps at most package.json, README, changelog, an
 * agent's manifest and model, and one chunk of the rest in memory, whatever the unpacked size. Throws the codes
 * `tarball_…` and `package_manifest_…`. `form`: `stored` for a tarball of a version that an earlier server accepted.
 */
export async function readTarball(
  bytes: Uint8Array,
  limits: TarballLimits,
  form: 'upload' | 'stored' = 'upload',
): Promise<Tarball> {
  const reader = new TarballReader()
  for await (const part of readTarballFiles(bytes, limits, form)) {
    if ('file' in part) reader.startFile(part.file)
    else reader.addBytes(part.bytes)
  }
  return {
    ...reader.finish(),
    size: bytes.length,
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    shasum: createHash('sha1').update(bytes).digest('hex'),
  }
}

class TarballReader {
  readonly #files: TarballFile[] = []
  #unpackedSize = 0
  #manifest: Buffer[] | undefined
  #readme: { path: string; pieces: Buffer[] } | undefined
  #changelog: Buffer[] | undefined
  #agent: Buffer[] | undefined
  #bundle: Hash | undefined
  #model: { hash: Hash; pieces: Buffer[] | null } | undefined
  #sink: (bytes: Buffer) => void = ignore

  startFile({ path, size }: TarballFile): void {
    this.#files.push({ path, size })
    this.#unpackedSize += size
    this.#sink = this.#sinkFor(path, size)
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
    // README.md takes precedence over other spellings, as in npm.
    if (readmePath.test(path) && (this.#readme === undefined || path.toLowerCase() === 'readme.md')) {
      if (size > maxReadmeBytes) throw readmeInvalid(path, `has ${size} bytes; the limit is ${maxReadmeBytes}`)
      const pieces: Buffer[] = []
      this.#readme = { path, pieces }
      return (bytes) => pieces.push(bytes)
    }
    // A bad changelog does not cause a refusal.
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

/** Null if it is not UTF-8, or contains NUL, which PostgreSQL does not allow in text. */
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
    'Save it as UTF-8 text, and link to large images.',
  )
}

function ignore(): void {}

/**
 * Reads the body of an upload, with a size limit that is enforced while it arrives. Throws `tarball_too_large`,
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
      message: 'The request body is empty. Send the tarball.',
    })
  return Buffer.concat(chunks, length)
}
