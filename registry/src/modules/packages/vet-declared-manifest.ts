import { isDeepStrictEqual } from 'node:util'
import { AgentGymError } from '@agentgym/contract'
import { installScripts } from './vet-manifest.ts'

type Manifest = Record<string, unknown>

/** What decides what an installation runs and fetches. Clients rewrite other fields (`repository`, `bugs`, …) on their way. */
const compared: Record<string, (manifest: Manifest) => unknown> = {
  name: ({ name }) => name,
  version: ({ version }) => version,
  // npm adds scripts of its own (`start` where there is a server.js) to what it declares.
  scripts: ({ scripts }) => Object.keys(asObject(scripts)).filter((script) => installScripts.includes(script)),
  bin: ({ bin }) => bin ?? {},
  // npm moves optional dependencies between the two fields.
  dependencies: ({ dependencies, optionalDependencies }) => ({
    ...asObject(dependencies),
    ...asObject(optionalDependencies),
  }),
  peerDependencies: ({ peerDependencies }) => peerDependencies ?? {},
  agentgym: ({ agentgym }) => agentgym,
}

/**
 * Holds what an upload says of a package beside the tarball, as npm's documents do, to the package.json in the tarball. What
 * is served comes from the tarball alone; a client that says something else is broken, or means to deceive. Throws
 * `package_manifest_mismatch`.
 */
export function vetDeclaredManifest(declared: Manifest, packed: Manifest): void {
  for (const [field, read] of Object.entries(compared))
    if (!isDeepStrictEqual(read(declared), read(packed)))
      throw new AgentGymError({
        code: 'package_manifest_mismatch',
        message: `The upload says something else of "${field}" than the package.json in the tarball.`,
        hint: 'Publish with `agentgym scenario publish`, npm or pnpm.',
        data: { field },
      })
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
