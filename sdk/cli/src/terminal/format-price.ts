/** A price of so many minor units: `free`, `12.50`. */
export function formatPrice(minor: number): string {
  return minor === 0 ? 'free' : (minor / 100).toFixed(2)
}
