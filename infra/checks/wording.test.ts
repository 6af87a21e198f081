import { describe, expect, it } from 'vitest'
import { isTest, readRepositoryFile, sourceFiles } from './repository-files.ts'
import { findPhrases, shownTexts } from './wording.ts'

const shown = /^(web|sdk\/cli|sdk\/contract|registry)\/src\//
const files = sourceFiles('.ts', '.tsx').filter(
  (path) => shown.test(path) && !isTest(path) && !path.includes('/migrations/'),
)

it('site, command line, error texts and OpenAPI descriptions use plain English', () => {
  expect(files.length).toBeGreaterThan(300)
  expect(files.flatMap((path) => findPhrases(path, readRepositoryFile(path)))).toEqual([])
})

describe('the check itself', () => {
  it.each([
    ['a string', "const hint = 'Whoever publishes it is asked'", 1],
    ['a template', 'const hint = `nobody sees $' + '{name}`', 1],
    ['JSX', 'const page = <p>What you publish\n stands here</p>', 1],
    ['an attribute', 'const page = <p title="1 unless told">x</p>', 1],
    ['no comment', '// whoever reads this\nconst a = 1 /* nobody */', 0],
    ['no import', "import { whoever } from './nobody.ts'", 0],
    ['no name', 'const nobody = upkeep()', 0],
    ['no single word', "const reserved = ['nobody']", 0],
  ])('%s', (_, source, count) => {
    expect(findPhrases('page.tsx', source)).toHaveLength(count)
  })

  it('reports the line', () => {
    expect(shownTexts('a.ts', "\n\nconst a = 'text'")).toEqual([{ text: 'text', line: 3 }])
  })
})
