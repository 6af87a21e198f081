/** Path of a version's tarball for npm clients. Names and versions need no encoding. */
export function tarballPath(name: string, version: string): string {
  return `/npm/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`
}

/** A package's page on the site. */
export function packagePagePath(name: string): string {
  return `/packages/${name}`
}

/** A picture that a version's README shows, by the SHA-256 (hex) of its bytes. */
export function readmePicturePath(name: string, version: string, hash: string): string {
  return `/v1/packages/${name}/versions/${version}/readme/pictures/${hash}`
}
