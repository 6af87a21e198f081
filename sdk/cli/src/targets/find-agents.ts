import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The folders below `parent` that hold an agent.json, by name. A missing parent has none. */
export async function findAgents(parent: string): Promise<{ name: string; folder: string }[]> {
  if (!existsSync(parent)) return []
  const entries = await readdir(parent, { withFileTypes: true })
  return entries
    .map((entry) => ({ name: entry.name, folder: join(parent, entry.name) }))
    .filter(({ folder }) => existsSync(join(folder, 'agent.json')))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
