import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** What an evaluation's last bits may depend on, as agent.json and signed statements record it. */
export function runtimeVersions(): Record<string, string> {
  const version = (name: string): string => (require(`${name}/package.json`) as { version: string }).version
  return {
    node: process.versions.node,
    v8: process.versions.v8,
    onnxruntime: version('onnxruntime-node'),
    platform: `${process.platform}-${process.arch}`,
  }
}
