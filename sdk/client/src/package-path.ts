/** Path of a package in the API: `/v1/packages/@acme/cart-pole`. */
export function packagePath(name: string): string {
  return `/v1/packages/${name.split('/').map(encodeURIComponent).join('/').replace(/^%40/, '@')}`
}

/** Path of one version of it. */
export function versionPath(name: string, version: string): string {
  return `${packagePath(name)}/versions/${encodeURIComponent(version)}`
}
