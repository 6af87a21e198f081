import { createHash } from 'node:crypto'

export type DebianPackage = {
  name: string
  version: string
  architecture: string
  /** Security advisories name the source package. */
  source: string
  sourceVersion: string
}

type Component = Record<string, unknown>
type Bill = {
  metadata?: { component?: Component } & Record<string, unknown>
  components?: Component[]
  dependencies?: unknown
}

/**
 * The software bill of materials (CycloneDX 1.6) of an image: npm's part as pnpm writes it, with Node and the packages of
 * Debian that its libraries come from. Without a serial number of chance and a time of the clock, it is the same twice.
 */
export function softwareBill(
  image: string,
  packages: readonly DebianPackage[],
  { npm, seconds }: { npm: Bill; seconds: number },
): Bill {
  const components = [
    {
      type: 'application',
      name: 'node',
      version: process.versions.node,
      purl: `pkg:generic/node@${process.versions.node}`,
    },
    ...packages.map(debianComponent),
    ...(npm.components ?? []),
  ]
  const hash = createHash('sha256')
    .update(JSON.stringify([image, components]))
    .digest('hex')
  const uuid = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-')
  return {
    ...npm,
    serialNumber: `urn:uuid:${uuid}`,
    metadata: {
      ...npm.metadata,
      timestamp: new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z'),
      component: { ...npm.metadata?.component, type: 'container', name: `agentgym-${image}` },
    },
    components,
  } as Bill
}

function debianComponent({ name, version, architecture, source, sourceVersion }: DebianPackage): Component {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    properties: [{ name: 'debian:source', value: `${source}@${sourceVersion}` }],
  }
}
