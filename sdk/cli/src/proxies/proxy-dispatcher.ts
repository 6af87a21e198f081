import { Agent, Dispatcher, ProxyAgent, setGlobalDispatcher } from 'undici'

type FindProxy = (origin: string | URL) => URL | undefined

/**
 * Sends every `fetch` of this process through the proxy that `find` gives for its address, or directly. Requests for
 * `https` go through a tunnel (CONNECT). Those for `http` go to the proxy in absolute form, as curl sends them: proxies
 * commonly refuse tunnels to other ports than 443.
 */
export function openProxies(find: FindProxy): void {
  setGlobalDispatcher(new ProxyDispatcher(find))
}

class ProxyDispatcher extends Dispatcher {
  readonly #find: FindProxy
  readonly #direct = new Agent()
  readonly #proxies = new Map<string, ProxyAgent>()

  constructor(find: FindProxy) {
    super()
    this.#find = find
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const proxy = this.#find(options.origin ?? '')
    return (proxy === undefined ? this.#direct : this.#agentOf(proxy.href)).dispatch(options, handler)
  }

  #agentOf(uri: string): ProxyAgent {
    const known = this.#proxies.get(uri)
    if (known !== undefined) return known
    const agent = new ProxyAgent({ uri, proxyTunnel: false })
    this.#proxies.set(uri, agent)
    return agent
  }
}
