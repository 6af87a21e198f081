import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { codeBlocks } from '../checks/markdown.ts'
import { readRepositoryFile, repositoryRoot } from '../checks/repository-files.ts'

/** What the README's tour tells its reader to type, line by line. */
function tourCommands(): string[] {
  const section = /^## A five-minute tour$(.*?)^## /ms.exec(readRepositoryFile('README.md'))?.[1] ?? ''
  return codeBlocks(section)
    .filter(({ language, marks }) => language === 'sh' && !marks.includes('illustration'))
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line !== '')
}

// Typed in a folder of its own, where only what the tour uses of the clone is there: what it writes stays out of ours.
describe("the README's tour, typed from top to bottom", () => {
  const folder = mkdtempSync(join(tmpdir(), 'readme-tour-'))
  for (const name of ['agentgym', 'plugins']) symlinkSync(join(repositoryRoot, name), join(folder, name))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const commands = tourCommands()
  it('has commands to type', () => expect(commands.length).toBeGreaterThan(5))

  it.each(commands)('%s', { timeout: 300_000 }, (command) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' })
    expect(status, `${stdout}\n${stderr}`).toBe(0)
  })
})
