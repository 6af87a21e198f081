/** Where a package's page is: `/packages/@acme/cart-pole`. */
export function packageAddress(name: string): string {
  const [scope, base] = name.split('/')
  return `/packages/${scope}/${base}`
}
