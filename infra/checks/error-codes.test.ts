import { errorCatalog } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { isTest, readRepositoryFile, sourceFiles } from './repository-files.ts'

const page = 'docs/errors.md'

type Row = { code: string; exit: number; cells: string[] }

/** The rows of the page's tables; the heading above a table gives the exit status. */
function documentedCodes(): Row[] {
  let exit = 0
  const rows: Row[] = []
  for (const line of readRepositoryFile(page).split('\n')) {
    exit = Number(/^## .*\(exit (\d)\)$/.exec(line)?.[1] ?? exit)
    const code = /^\| `(\w+)` \|/.exec(line)?.[1]
    if (code)
      rows.push({
        code,
        exit,
        cells: line
          .split('|')
          .slice(2, -1)
          .map((cell) => cell.trim()),
      })
  }
  return rows
}

describe(`${page} and the error catalog`, () => {
  const rows = documentedCodes()

  it('name the same codes, in the same order within an exit status', () => {
    const byExit = (exit: number) =>
      Object.entries(errorCatalog)
        .filter(([, entry]) => entry.exit === exit)
        .map(([code]) => code)
    for (const exit of [1, 2])
      expect(rows.filter((row) => row.exit === exit).map(({ code }) => code)).toEqual(byExit(exit))
  })

  it.each(Object.entries(errorCatalog))(
    '%s: the meaning matches the catalog, with cause and remedy',
    (code, { summary }) => {
      const [meaning, cause, remedy] = rows.find((row) => row.code === code)?.cells ?? []
      expect(meaning).toBe(summary)
      expect(cause).toMatch(/\w/)
      expect(remedy).toMatch(/\w/)
    },
  )

  it('have every code that the Python library raises', () => {
    const source = sourceFiles('.py')
      .filter((path) => path.startsWith('sdk/python/src/'))
      .map(readRepositoryFile)
      .join('\n')
    const raised = [
      ...source.matchAll(/AgentGymError\(\s*"(\w+)"|"(model_[a-z_]+_forbidden)"|model_failure\(\s*"(\w+)"/g),
    ].map(([, ...found]) => found.find(Boolean) ?? '')
    expect(raised.length).toBeGreaterThan(100)
    expect(raised.filter((code) => !Object.hasOwn(errorCatalog, code))).toEqual([])
  })

  it('every code is used somewhere', () => {
    const source = [...sourceFiles('.ts', '.tsx'), 'agentgym']
      .filter((path) => !isTest(path) && !path.startsWith('infra/') && !path.endsWith('/error-catalog.ts'))
      .map(readRepositoryFile)
      .join('\n')
    expect(Object.keys(errorCatalog).filter((code) => !new RegExp(`['"]${code}['"]`).test(source))).toEqual([])
  })
})
