import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { examples } from './documented-examples.ts'
import { repositoryRoot } from './repository-files.ts'

type Typed = { place: string; words: string[] }

/** Every `agentgym …` that a page shows in a sh block, illustrations included: what is shown must be real. */
function typedCommands(): Typed[] {
  return examples(['sh', 'console'], { illustrations: true }).flatMap(({ page, line, text }) =>
    text.split('\n').flatMap((row, index) => {
      const command = /^(?:\$ )?(?:\S*\/)?agentgym\s+([^#]*)/.exec(row)?.[1]
      return command === undefined ? [] : [{ place: `${page}:${line + index}`, words: command.trim().split(/\s+/) }]
    }),
  )
}

const helpTexts = new Map<string, string>()

function helpFor(words: string[]): string {
  const command = words.join(' ')
  const known = helpTexts.get(command)
  if (known !== undefined) return known
  const { stdout } = spawnSync(join(repositoryRoot, 'agentgym'), [...words, '--help'], { encoding: 'utf8' })
  helpTexts.set(command, stdout)
  return stdout
}

/** Commands that have commands. */
const groups = ['scenario', 'runs', 'agent', 'token', 'help']

/** What is wrong with a command as typed: no such command, or an option that it does not have. */
function faults({ place, words }: Typed): string[] {
  const command = groups.includes(words[0]) ? words.slice(0, 2) : words.slice(0, 1)
  const help = command[0] === 'help' ? helpFor(command.slice(1)) : helpFor(command)
  if (command[0] !== 'help' && !help.includes(`Usage: agentgym ${command.join(' ')}`))
    return [`${place}: no command ${command.join(' ')}`]
  const options = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0])
  return options
    .filter((option) => !new RegExp(`${option}\\b`).test(help))
    .map((option) => `${place}: no option ${option}`)
}

it('every command in the documentation exists, with the options it is shown with', () => {
  const typed = typedCommands()
  expect(typed.length).toBeGreaterThan(5)
  expect(typed.flatMap(faults)).toEqual([])
})

it('the check bites', () => {
  expect(faults({ place: 'PAGE.md:1', words: ['trian', 'x'] })).toEqual(['PAGE.md:1: no command trian'])
  expect(faults({ place: 'PAGE.md:1', words: ['runs', 'wach', '4f0c'] })).toEqual(['PAGE.md:1: no command runs wach'])
  expect(faults({ place: 'PAGE.md:2', words: ['train', 'x', '--sed', '1'] })).toEqual(['PAGE.md:2: no option --sed'])
})
