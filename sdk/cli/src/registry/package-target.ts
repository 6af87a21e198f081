import { type PackageTarget, parsePackageTarget } from '@agentgym/agent/packages'
import { packagePath } from '@agentgym/client'
import { AgentGymError, type ResolvedVersion, resolvedVersionSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import { callApi } from './call-api.ts'

/** As `parsePackageTarget`; throws `name_invalid` where the text names no package. */
export function requirePackageTarget(text: string): PackageTarget {
  const target = parsePackageTarget(text)
  if (target) return target
  const shown = JSON.stringify(text.slice(0, 200))
  throw new AgentGymError({
    code: 'name_invalid',
    message: `${shown} is not a package name`,
    hint: `Use the form @scope/name, such as @acme/cart-pole or @acme/cart-pole@^1.0.0. Find packages: agentgym search ${text.replace(/[^\w-]/g, '').slice(0, 40) || 'WORD'}`,
    data: { name: text.slice(0, 200) },
  })
}

/** Asks the server which version a range, tag or exact version is; without one, `latest`. */
export async function resolvePackage(connection: Connection, target: PackageTarget): Promise<ResolvedVersion> {
  return callApi(connection, {
    path: `${packagePath(target.name)}/resolve`,
    query: { range: target.range ?? 'latest' },
    answer: resolvedVersionSchema,
  })
}
