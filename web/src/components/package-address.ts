/** Where a package's page is: `/packages/@acme/cart-pole`. */
export function packageAddress(name: string): string {
  const [scope, base] = name.split('/')
  return `/packages/${scope}/${base}`
}

/** A picture of one of its versions, four by three. */
export function pictureAddress(name: string, version: string): string {
  const [scope, base] = name.split('/')
  return `/pictures/${scope}/${base}/${encodeURIComponent(version)}`
}
