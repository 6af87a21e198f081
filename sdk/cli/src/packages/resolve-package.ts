import { packagePath } from '@agentgym/client'
import { type ResolvedVersion, resolvedVersionSchema } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { PackageTarget } from '../registry/package-target.ts'
import { callApi } from '../registry/registry-api.ts'

/** Asks the server which version a range, tag or exact version is; without one, `latest`. */
export async function resolvePackage(connection: Connection, target: PackageTarget): Promise<ResolvedVersion> {
  return callApi(connection, {
    path: `${packagePath(target.name)}/resolve`,
    query: { range: target.range ?? 'latest' },
    answer: resolvedVersionSchema,
  })
}
