import { spawnSync } from 'node:child_process'
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

/** What `--help` of every command says, by its words. One process tells them all: a start a command takes its time. */
const helpTexts: Record<string, string> = (() => {
  const script = `
    import { processIo } from './sdk/cli/src/command-io.ts'
    import { makeProgram } from './sdk/cli/src/program.ts'
    const texts = {}
    const tell = (command, words) => {
      texts[words.join(' ')] = command.helpInformation()
      for (const inner of command.commands) tell(inner, [...words, inner.name()])
    }
    tell(await makeProgram({ io: processIo(), flags: { json: false, verbose: false, color: false }, action: () => () => {} }), [])
    console.log(JSON.stringify(texts))`
  const words = ['--input-type=module', '--eval', script]
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: repositoryRoot, encoding: 'utf8' })
  if (stdout === '') throw new Error(`the command line tells no help: ${stderr}`)
  return JSON.parse(stdout)
})()

function helpFor(words: string[]): string {
  return helpTexts[words.join(' ')] ?? ''
}

/** Commands that do nothing without one of theirs. */
const groups = ['scenario', 'runs', 'agent', 'token', 'help']

/** What is wrong with a command as typed: no such command, or an option that it does not have. */
function faults({ place, words }: Typed): string[] {
  const inner = groups.includes(words[0]) || helpFor(words.slice(0, 2)) !== ''
  const command = inner ? words.slice(0, 2) : words.slice(0, 1)
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

it('detects violations', () => {
  expect(faults({ place: 'PAGE.md:1', words: ['trian', 'x'] })).toEqual(['PAGE.md:1: no command trian'])
  expect(faults({ place: 'PAGE.md:1', words: ['runs', 'wach', '4f0c'] })).toEqual(['PAGE.md:1: no command runs wach'])
  expect(faults({ place: 'PAGE.md:2', words: ['train', 'x', '--sed', '1'] })).toEqual(['PAGE.md:2: no option --sed'])
  expect(faults({ place: 'PAGE.md:3', words: ['orders', '--sales'] })).toEqual([])
  expect(faults({ place: 'PAGE.md:3', words: ['orders', 'refund', 'x', '--sales'] })).toEqual([
    'PAGE.md:3: no option --sales',
  ])
})
