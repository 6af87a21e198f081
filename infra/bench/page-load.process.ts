import { atFixedRate, request } from './http-load.ts'

export type PageLoad = {
  addresses: string[]
  /** The first so many are asked for before the measurement, by `warmUpClients`, each of which waits for its answers. */
  warmUp: number
  warmUpClients: number
  perSecond: number
}

/** Asks for pages at a fixed rate in a process of its own, which has nothing else to do and little to tidy up. */
process.once('message', async ({ addresses, warmUp, warmUpClients, perSecond }: PageLoad) => {
  // A server that has just started compiles its code, and opens connections to its database, each of which plans its
  // statements anew: at a fixed rate those requests would queue and be what is measured.
  const first = addresses.slice(0, warmUp).values()
  const ask = async () => {
    for (const address of first) await request(address)
  }
  await Promise.all(Array.from({ length: warmUpClients }, ask))
  const times = await atFixedRate({ perSecond, requests: addresses.length - warmUp }, (index) =>
    request(addresses[warmUp + index]),
  )
  process.send?.(times, () => process.exit(0))
})
