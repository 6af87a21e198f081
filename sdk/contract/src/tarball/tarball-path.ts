import { shownPath, tarballFailure } from './tarball-failure.ts'

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
export function vetTarballPath(path: string, type: 'file' | 'directory'): string {
  const shown = shownPath(path)
  const data = { path }
  if (path.includes('\0')) throw tarballFailure('tarball_path_nul', `${shown} contains a NUL byte.`, data)
  if (Buffer.byteLength(path) > maxPathBytes) {
    const message = `${shown} is longer than ${maxPathBytes} bytes.`
    throw tarballFailure('tarball_path_too_long', message, { ...data, limit: maxPathBytes }, 'Shorten the path.')
  }
  if (path.includes('\\')) throw tarballFailure('tarball_path_backslash', `${shown} contains a backslash.`, data)
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path))
    throw tarballFailure('tarball_path_absolute', `${shown} is absolute.`, data)
  const plain = type === 'directory' && path.endsWith('/') ? path.slice(0, -1) : path
  const segments = plain.split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw tarballFailure('tarball_path_traversal', `${shown} has a segment "..", "." or an empty one.`, data)
  if (!`${plain}/`.startsWith(root) || (plain === 'package' && type === 'file'))
    throw tarballFailure('tarball_path_outside_package', `${shown} is not in "package/".`, data)
  const odd = segments.find((segment) => notPortable.test(segment) || /[. ]$/.test(segment) || deviceName.test(segment))
  if (odd !== undefined) {
    const message = `${shown} cannot exist on every system because of ${shownPath(odd)}.`
    throw tarballFailure('tarball_path_not_portable', message, data, 'Rename the file.')
  }
  return plain.slice(root.length)
}

/** Paths that tools look for by name. */
const known = ['package.json', 'dist/scenario.js', 'agent.json', 'model.onnx']

/** Remembers the paths of one tarball and refuses two that are one, here or on a system that folds names. */
export class TarballPaths {
  readonly #paths = new Map<string, { path: string; type: 'file' | 'directory' }>()

  /** Throws `tarball_path_duplicate` or `tarball_path_collision`. A folder may occur again. */
  add(path: string, type: 'file' | 'directory'): void {
    const segments = path.split('/')
    for (let depth = 1; depth < segments.length; depth++) this.#put(segments.slice(0, depth).join('/'), 'directory')
    this.#put(path, type)
    const folded = foldPath(path)
    const other = known.find((candidate) => candidate === folded && candidate !== path)
    if (other === undefined) return
    const message = `${shownPath(path)} is ${other} on file systems that ignore case.`
    throw tarballFailure('tarball_path_collision', message, { path, other }, 'Rename the file.')
  }

  #put(path: string, type: 'file' | 'directory'): void {
    const folded = foldPath(path)
    const before = this.#paths.get(folded)
    if (before === undefined) {
      this.#paths.set(folded, { path, type })
    } else if (before.path !== path) {
      const message = `${shownPath(before.path)} and ${shownPath(path)} are the same path on file systems that ignore case or accents.`
      throw tarballFailure('tarball_path_collision', message, { path, other: before.path }, 'Rename one of the two.')
    } else if (before.type !== type) {
      const message = `${shownPath(path)} is both a file and a folder.`
      throw tarballFailure('tarball_path_collision', message, { path }, 'Rename one of the two.')
    } else if (type === 'file') {
      throw tarballFailure('tarball_path_duplicate', `${shownPath(path)} appears twice.`, { path })
    }
  }
}

/** Upper case first: ſ, ß and the like fold as file systems do it; NFKC is wider than any file system's form. */
function foldPath(path: string): string {
  return path.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}
