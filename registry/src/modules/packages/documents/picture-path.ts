const extension = /\.(?:png|jpe?g|gif|webp)$/i
/** `scheme:`, `//host` and whatever else does not begin in the package's folder. */
const elsewhere = /^(?:[a-z][a-z0-9+.-]*:|[/\\])/i

/**
 * The file of the package that a picture in its README names, as the archive has its path: `./docs/a%20b.png?raw=true` is
 * `docs/a b.png`. Null where it names none: another host, `data:`, an absolute path, one that leaves the folder, SVG.
 */
export function picturePath(source: string): string | null {
  if (elsewhere.test(source)) return null
  const path = decoded(source.replace(/[?#].*$/s, ''))
  if (path === null || elsewhere.test(path) || /[\\\0]/.test(path) || !extension.test(path)) return null
  const segments = path.replace(/^(?:\.\/)+/, '').split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return null
  return segments.join('/')
}

/** Once, as a browser would: what is still encoded then is part of a name, and no file has that. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
