import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Example, examples } from './documented-examples.ts'
import { repositoryRoot } from './repository-files.ts'

// Inside the repository, so that the examples find the packages that they import; .agentgym is ignored by git.
const folder = join(repositoryRoot, `.agentgym/documented-typescript-${process.pid}`)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Errors of the type checker, with the place in the page instead of the place in the file. */
function compile(blocks: Example[]): string {
  mkdirSync(folder, { recursive: true })
  for (const [index, { text }] of blocks.entries())
    writeFileSync(join(folder, `example-${index}.ts`), `${text}\nexport {}\n`)
  const settings = { extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
  const { stdout } = spawnSync(
    'tsc',
    ['--noEmit', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false', '-p', folder],
    {
      cwd: folder,
      encoding: 'utf8',
    },
  )
  return stdout.replace(/example-(\d+)\.ts\((\d+),/g, (_, index, line) => {
    const block = blocks[Number(index)]
    return `${block.page}(${block.line + Number(line) - 1},`
  })
}

it('the TypeScript in the documentation compiles', () => {
  const blocks = examples(['ts', 'typescript'])
  expect(blocks.length, 'examples found').toBeGreaterThan(0)
  expect(compile(blocks)).toBe('')
})

it('a wrong example is found with its location', () => {
  const wrong = {
    page: 'PAGE.md',
    line: 10,
    text: "import { box } from '@agentgym/scenario'\nbox({ shape: 'four' })\n",
  }
  expect(compile([wrong])).toMatch(/^PAGE\.md\(11,/)
})
