import { BlockList, isIP } from 'node:net'
import { AgentGymError } from '@agentgym/contract'

type Environment = Record<string, string | undefined>

/** The variables that may be set, lower case first, as curl reads them. */
const proxyVariables = {
  'http:': ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
} as const

export type Proxy = { url: URL; variable: string }

/**
 * The proxy for an address, by the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, and `NO_PROXY` with hosts,
 * domains, addresses and ranges of them, each with or without a port, or `*`. Undefined: none. Throws `config_invalid`.
 *
 * This machine's own addresses are never asked of a proxy on another machine: it would look for them on its own, and get
 * the token.
 */
export function proxyFor(address: string | URL, environment: Environment): Proxy | undefined {
  const target = new URL(address)
  const variables = proxyVariables[target.protocol as keyof typeof proxyVariables] ?? []
  const variable = variables.find((name) => environment[name])
  if (variable === undefined) return undefined
  const url = proxyAddress(variable, environment[variable] ?? '')
  if (isOwn(target.hostname) && !isOwn(url.hostname)) return undefined
  return isExempt(target, environment.no_proxy || environment.NO_PROXY || '') ? undefined : { url, variable }
}

function proxyAddress(variable: string, text: string): URL {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new AgentGymError({
    code: 'config_invalid',
    // Without the value, which may contain a password.
    message: `${variable} is not the address of an HTTP proxy`,
    hint: 'Write it as http://proxy.example:3128, or unset it.',
    data: { field: variable },
  })
}

const defaultPorts: Record<string, string> = { 'http:': '80', 'https:': '443' }

function isExempt(target: URL, list: string): boolean {
  const host = bare(target.hostname)
  const port = target.port || defaultPorts[target.protocol]
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '') return false
      if (entry === '*') return true
      const { name, onlyPort } = splitPort(entry)
      return (onlyPort === undefined || onlyPort === port) && matches(host, name)
    })
}

/** `host:8080`, `[::1]:8080`; an IPv6 address without brackets has no port. */
function splitPort(entry: string): { name: string; onlyPort?: string } {
  const [, name, onlyPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [undefined, entry]
  return { name: bare(name ?? ''), onlyPort }
}

/** `example.com`, `.example.com` and `*.example.com` all match the domain and everything below, as with curl. */
function matches(host: string, name: string): boolean {
  const family = isIP(host)
  if (family !== 0) return addresses(name)?.check(host, family === 4 ? 'ipv4' : 'ipv6') ?? false
  const domain = name.replace(/^\*?\./, '')
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`))
}

function addresses(name: string): BlockList | undefined {
  const [address, bits] = name.split('/')
  const family = isIP(address)
  if (family === 0) return undefined
  const list = new BlockList()
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const most = family === 4 ? 32 : 128
  if (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most)) return undefined
  list.addSubnet(address, bits === undefined ? most : Number(bits), type)
  return list
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

function isOwn(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|::1)$/i.test(bare(hostname))
}

/** Sends every `fetch` of this process through the proxies of an environment, if it names any. */
export async function applyProxies(environment: Environment): Promise<void> {
  if (!Object.values(proxyVariables).some((names) => names.some((name) => environment[name]))) return
  const { openProxies } = await import('./proxy-dispatcher.ts')
  openProxies((origin) => proxyFor(origin, environment)?.url)
}

/**
 * The same for the processes of a server, by its own settings: in a company's image, `HTTP_PROXY` is often set for
 * package managers only.
 */
export function applyServerProxy(proxy: { url: string; exempt: string } | null): Promise<void> {
  return applyProxies(proxy === null ? {} : { ALL_PROXY: proxy.url, NO_PROXY: proxy.exempt })
}

/** A failure to reach a server says through which proxy it was tried. */
export function namingProxy(error: unknown, environment: Environment): unknown {
  if (!(error instanceof AgentGymError) || error.code !== 'server_unreachable') return error
  const { server } = error.data
  const proxy = typeof server === 'string' ? proxyFor(server, environment) : undefined
  if (proxy === undefined) return error
  const { host, protocol } = proxy.url
  const named = `${protocol}//${host}`
  return new AgentGymError(
    {
      code: error.code,
      message: error.message,
      hint: needsLogIn(error)
        ? `The proxy ${named} asks for a username and password: ${proxy.variable}=${protocol}//USER:PASSWORD@${host}.`
        : `Requests go through the proxy ${named} (${proxy.variable}). List servers that it cannot reach in NO_PROXY.`,
      data: { ...error.data, proxy: named },
    },
    { cause: error },
  )
}

/** A proxy answered 407, which undici reports in words only. */
function needsLogIn(error: Error): boolean {
  if (/\b407\b/.test(error.message)) return true
  return error.cause instanceof Error && needsLogIn(error.cause)
}
