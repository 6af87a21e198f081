import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const repositoryRoot = join(import.meta.dirname, '../..')

/** Every file that is committed or about to be, by path from the root; what .gitignore names is left out. */
export const repositoryFiles: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '-z'],
  { cwd: repositoryRoot, encoding: 'utf8', maxBuffer: 2 ** 26 },
)
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(repositoryRoot, path)))
  .sort()

export function readRepositoryFile(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8')
}

/** Files whose name ends in one of `endings`, test data apart. */
export function sourceFiles(...endings: string[]): string[] {
  return repositoryFiles.filter(
    (path) => endings.some((ending) => path.endsWith(ending)) && !/(^|\/)testdata\//.test(path),
  )
}

/** Is this file only for tests? */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$|(^|\/)(test|testdata)\//.test(path)
}
