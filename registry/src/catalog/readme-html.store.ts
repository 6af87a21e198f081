import type { Queries } from '../database/database.ts'

/** Edition of `markdownHtml`. Raised when it lets through less or more: HTML of another edition is not shown. */
export const rendering = 1

/** Keeps a README's HTML, made by `ReadmeRenderer`, for all who read the version. */
export async function keepReadmeHtml(query: Queries, versionId: string, html: string): Promise<void> {
  await query
    .insertInto('readme_html')
    .values({ version_id: versionId, rendering, html })
    .onConflict((conflict) => conflict.column('version_id').doUpdateSet({ rendering, html }))
    .execute()
}
