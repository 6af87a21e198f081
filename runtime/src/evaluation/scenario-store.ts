import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import { namingFile, scenarioPackageSchema } from '@agentgym/contract'
import type { BuiltScenario } from '../sandbox/build-scenario.ts'

/**
 * Keeps the bundle that an agent was trained on, by its hash, on this machine. An agent package names its scenario by
 * hash but must not contain it: a premium scenario's source is never handed out.
 */
export async function rememberScenario(scenario: BuiltScenario, home: string): Promise<void> {
  const folder = join(home, 'scenarios', scenario.hash)
  const temporary = `${folder}.${process.pid}.tmp`
  try {
    await namingFile(folder, async () => {
      await mkdir(temporary, { recursive: true, mode: 0o700 })
      await writeFile(join(temporary, 'scenario.js'), scenario.source)
      await writeFile(join(temporary, 'package.json'), JSON.stringify(scenario.package, null, 2))
    })
    // It may be there already, or another run put it there first: content and name are the same.
    await rename(temporary, folder).catch(() => {})
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** Null where this machine has no intact bundle of that hash. */
export async function recallScenario(hash: string, home: string): Promise<BuiltScenario | null> {
  const folder = join(home, 'scenarios', hash)
  try {
    const source = await readFile(join(folder, 'scenario.js'), 'utf8')
    if (sha256(source) !== hash) return null
    return {
      folder,
      source,
      hash,
      package: scenarioPackageSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))),
    }
  } catch {
    return null
  }
}
