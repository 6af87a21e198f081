import { describe, expect, it } from 'vitest'
import { findForbiddenText, forbiddenText } from './forbidden-text.ts'
import { readRepositoryFile, repositoryFiles } from './repository-files.ts'

const binary = /\.(png|jpg|ico|woff2?|onnx|tgz|zst|bin|wasm)$/

it('no file contains forbidden text', () => {
  const self = /^infra\/checks\/forbidden-text(\.test)?\.ts$/
  const files = repositoryFiles.filter((path) => !binary.test(path) && !self.test(path))
  expect(files.flatMap((path) => findForbiddenText(path, readRepositoryFile(path)))).toEqual([])
})

describe('each rule detects a violation', () => {
  // In pieces, so that a search of the repository for such words finds none.
  const [home, npm, debian, ts, todo] = ['ome', 'pmjs', 'ebian', 'gnore', 'DO']
  const examples: Record<string, string[]> = {
    'path of one machine': [`const cache = '/h${home}/ada/cache'`, `see /h${home}/ada/notes`],
    'registry host': [`https://registry.n${npm}.org/zod`, `deb http://deb.d${debian}.org/debian bookworm main`],
    any: ['const x = y as any', 'function f(x: any) {}', 'const m = new Map<any, string>()'],
    'silenced checker': [`// @ts-i${ts}`, `// biome-i${ts} lint: no`],
    'test that does not run': ["it.skip('x', () => {})", "describe.only('x', () => {})", "it.skip.each([1])('x')"],
    'unfinished word': [`// TO${todo}: later`, `/* FIX${'ME'} */`],
  }

  it.each(forbiddenText.map(({ name }) => name))('%s', (name) => {
    for (const example of examples[name]) {
      expect(findForbiddenText('sdk/x/src/x.test.ts', example), example).toEqual([
        expect.stringContaining(`: ${name} (`),
      ])
    }
  })

  it.each(['for any: of them', 'the path a/home/b/c', "import x from './home/y.ts'", 'todo lists'])(
    'and allows: %s',
    (text) => {
      expect(findForbiddenText('sdk/x/src/x.test.ts', text)).toEqual([])
    },
  )
})
