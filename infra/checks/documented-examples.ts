import { codeBlocks } from './markdown.ts'
import { readRepositoryFile, sourceFiles } from './repository-files.ts'

/** A code block of a page, and where it stands. */
export type Example = { page: string; line: number; text: string }

/**
 * Every code block in one of `languages`, in all pages. The word `illustration` after the language keeps a block from
 * being compiled or run; ask for `illustrations` to have those as well.
 */
export function examples(
  languages: string[],
  options: { illustrations: boolean } = { illustrations: false },
): Example[] {
  return sourceFiles('.md').flatMap((page) =>
    codeBlocks(readRepositoryFile(page))
      .filter(
        ({ language, marks }) =>
          languages.includes(language) && (options.illustrations || !marks.includes('illustration')),
      )
      .map(({ text, line }) => ({ page, line, text })),
  )
}
