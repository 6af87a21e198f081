import type { Queries } from '../database/database.ts'
import { readmeRenderer } from './readme-renderer.ts'

/** Edition of `markdownHtml`. Raised when it lets through less or more: HTML of another edition is not shown. */
export const rendering = 2

/** Keeps a README's HTML, made by `ReadmeRenderer`, for all who read the version. */
export async function keepReadmeHtml(query: Queries, versionId: string, html: string): Promise<void> {
  await query
    .insertInto('readme_html')
    .values({ version_id: versionId, rendering, html })
    .onConflict((conflict) => conflict.column('version_id').doUpdateSet({ rendering, html }))
    .execute()
}

/** HTML of a version's README: as it was made when it was published, or anew where another edition made it. */
export async function readmeHtmlOf(query: Queries, version: { id: string; readme: string }): Promise<string> {
  const kept = await query
    .selectFrom('readme_html')
    .select('html')
    .where('version_id', '=', version.id)
    .where('rendering', '=', rendering)
    .executeTakeFirst()
  return kept?.html ?? readmeRenderer.render(version.id, version.readme)
}
