import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError } from '@agentgym/contract'
import { markdownHtml } from '../modules/packages/index.ts'

/** The operator's own policies as HTML; null: the site shows its template. */
export type Policies = { terms: string | null; privacy: string | null; 'acceptable-use': string | null }

/**
 * Renders `terms.md`, `privacy.md` and `acceptable-use.md` in `folder`. Reads them once, when the server starts. Throws
 * `config_invalid` if the folder was `chosen` by a setting and does not exist.
 */
export async function readPolicies({ folder, chosen }: { folder: string; chosen: boolean }): Promise<Policies> {
  if (chosen && !(await stat(folder).catch(() => null))?.isDirectory())
    throw new AgentGymError({
      code: 'config_invalid',
      message: 'The setting AGENTGYM_POLICIES is not a folder.',
      hint: 'Create the folder with terms.md, privacy.md and acceptable-use.md, or unset AGENTGYM_POLICIES.',
      data: { field: 'AGENTGYM_POLICIES' },
    })
  const read = async (name: keyof Policies) => {
    const markdown = await readFile(join(folder, `${name}.md`), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null
      throw error
    })
    return markdown === null ? null : markdownHtml(markdown).html
  }
  const [terms, privacy, acceptableUse] = await Promise.all([read('terms'), read('privacy'), read('acceptable-use')])
  return { terms, privacy, 'acceptable-use': acceptableUse }
}
