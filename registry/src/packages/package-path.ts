/**
 * A request's path with the scoped name in it as two segments: `@scope%2fname` and `%40scope%2Fname` become
 * `@scope/name`. For `getPath` of the app that routes, so that every route knows one form only.
 *
 * Nothing else is decoded, and nothing twice: `%252f` stays as it is and matches no package.
 */
export function packagePath(path: string): string {
  return path.replace(/\/(?:@|%40)([^/%]+)(?:%2[fF]|\/)(?=[^/])/, '/@$1/')
}

/** Where npm clients get a version's tarball, below the server's address. Names and versions need no encoding. */
export function tarballPath(name: string, version: string): string {
  return `/npm/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
}
