import { type Client, packagePath } from '@agentgym/client'
import { AgentGymError, type ResolvedVersion, resolvedVersionSchema } from '@agentgym/contract'
import type { PackageTarget } from './package-target.ts'

/** Asks the server which version a range, tag or exact version is; without one, `latest`. */
export async function resolveVersion(
  client: Client,
  { name, range = 'latest' }: PackageTarget,
): Promise<ResolvedVersion> {
  const path = `${packagePath(name)}/resolve`
  const response = await client.send(`${path}?${new URLSearchParams({ range })}`)
  const parsed = resolvedVersionSchema.safeParse(await response.json().catch(() => undefined))
  if (parsed.success) return parsed.data
  throw new AgentGymError({
    code: 'server_unreachable',
    message: `unexpected response from ${client.server}${path}`,
    hint: 'Check that this is an AgentGym server. AGENTGYM_SERVER sets another one.',
    data: { server: client.server, path },
  })
}

/** As npm does: a tarball of the server is fetched from the address in use, whatever address the server gives itself. */
export function tarballUrl(server: string, tarball: string): string {
  const url = new URL(tarball, `${server}/`)
  const at = url.pathname.indexOf('/npm/')
  return at < 0 ? url.href : `${server}${url.pathname.slice(at)}${url.search}`
}
