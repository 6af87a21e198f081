import { type SuccessCriteria, successCriteriaSchema, type VersionDetails } from '@agentgym/contract'

/** Lowest value that each metric must reach, as the version's package.json has it. Rules change: what is none is left out. */
export function successOf({ manifest }: Pick<VersionDetails, 'manifest'>): SuccessCriteria {
  return successCriteriaSchema.safeParse(record(manifest.agentgym).success).data ?? {}
}

/** Packages that a client fetches with it: name and range. */
export function dependenciesOf({ manifest }: Pick<VersionDetails, 'manifest'>): [name: string, range: string][] {
  const all = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((field) =>
    Object.entries(record(manifest[field])),
  )
  return all.filter((pair): pair is [string, string] => typeof pair[1] === 'string')
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
