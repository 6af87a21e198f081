import { readFile } from 'node:fs/promises'
import type { ServeOptions } from '@agentgym/registry'

/** This command as a package for npm, as `serve` hands it out; undefined in a clone that has not built it. */
export async function readCommandPackage(): Promise<ServeOptions['command']> {
  try {
    const [bytes, description] = await Promise.all(
      ['agentgym.tgz', 'agentgym.json'].map((name) => readFile(new URL(`../../dist/${name}`, import.meta.url))),
    )
    const { version, integrity } = JSON.parse(description.toString('utf8'))
    return { version, integrity, bytes: new Uint8Array(bytes) }
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
    return undefined
  }
}
