import { codeBlocks } from './markdown.ts'
import { readRepositoryFile, sourceFiles } from './repository-files.ts'

/** A code block of a page, to be compiled or run. `illustration` after the language takes a block out of this. */
export type Example = { page: string; line: number; text: string }

/** Every block in one of `languages`, in all pages or in `page`. */
export function examples(languages: string[], page?: string): Example[] {
  const pages = page === undefined ? sourceFiles('.md') : [page]
  return pages.flatMap((path) =>
    codeBlocks(readRepositoryFile(path))
      .filter(({ language, marks }) => languages.includes(language) && !marks.includes('illustration'))
      .map(({ text, line }) => ({ page: path, line, text })),
  )
}
