import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentGymError, namingFile, nearestName } from '@agentgym/contract'
import { readScenarioPackage } from '@agentgym/runtime/scenario-package'
import { isCancel, select, text } from '@clack/prompts'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import type { CommandIo } from '../command-io.ts'
import {
  checkName,
  checkTitle,
  library,
  nameFromFolder,
  refuseConflicts,
  requireValid,
  titleFromName,
  writeLibrary,
} from '../packages/scenario-folder.ts'
import { unscopedName } from '../targets/scenarios.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addScenarioInit(scenario: Command, action: MakeAction): void {
  scenario
    .command('init')
    .argument('[DIR]', 'folder to create; existing files are never overwritten')
    .description('create a scenario from a template')
    .option('--template <NAME>', 'control (numbers in, action out) or tools (an agent that calls tools)')
    .option('--name <NAME>', 'npm package name (default: the name of the folder)')
    .option('--title <TITLE>', 'display title (default: derived from the name)')
    .option('-y, --yes', 'accept the defaults without prompting')
    .option('--refresh', "write vendor/scenario of an existing scenario again, from this command's own release")
    .action(action(scenarioInit))
}

type InitFlags = { template?: string; name?: string; title?: string; yes?: boolean; refresh?: boolean }

/** `agentgym scenario init`: creates a scenario from a template. Existing files are never overwritten. */
async function scenarioInit(directory: string | undefined, flags: InitFlags, context: CommandContext): Promise<void> {
  if (flags.refresh) return refreshLibrary(directory ?? '.', context)
  if (directory === undefined) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: 'The folder is missing',
      hint: 'Name the folder to create: agentgym scenario init my-scenario',
    })
  }
  const folder = context.resolve(directory)
  await refuseConflicts(folder, templateFiles, context)
  const answers = await answer(folder, flags, context)
  if (!answers) {
    context.print('Canceled. Nothing was written.')
    context.exitCode = 1
    return
  }
  const files = [...(await writeTemplate(folder, answers)), library]
  await writeLibrary(folder, context)
  context.printJson({ ...answers, folder, files })
  const { paint, symbols } = context.terminal
  const path = context.displayPath(folder)
  context.print(
    `${paint.accent(symbols.ok)} Created ${paint.bold(safeText(answers.name))} to ${safeText(path)}: ${files.join(', ')}`,
  )
  context.print(`${symbols.next} Run its tests: ${paint.accent(`agentgym scenario test ${shellQuote(path)}`)}`)
  context.print(`${symbols.next} Check it: ${paint.accent(`agentgym scenario check ${shellQuote(path)}`)}`)
}

/** Writes `vendor/scenario` again, and nothing else: types and test helpers as this command has them. */
async function refreshLibrary(directory: string, context: CommandContext): Promise<void> {
  const folder = context.resolve(directory)
  const { name } = readScenarioPackage(folder)
  const path = join(folder, library)
  const existed = existsSync(path)
  await namingFile(path, () => rm(path, { recursive: true, force: true }))
  await writeLibrary(folder, context)
  context.printJson({ name, folder, files: [library] })
  const { paint, symbols } = context.terminal
  const shown = safeText(context.displayPath(path))
  context.print(`${paint.accent(symbols.ok)} ${existed ? 'Refreshed' : 'Wrote'} ${shown} of ${safeText(name)}`)
}

async function answer(folder: string, flags: InitFlags, context: CommandContext): Promise<InitAnswers | undefined> {
  const template = flags.template === undefined ? undefined : readTemplate(flags.template)
  const name = flags.name ?? nameFromFolder(folder)
  const given = { name: flags.name, title: flags.title, template }
  if (flags.name !== undefined) requireValid('name', checkName(flags.name), flags.name)
  if (flags.title !== undefined) requireValid('title', checkTitle(flags.title), flags.title)
  const mayAsk = !flags.yes && !context.json && context.terminal.live && context.io.stdin.isTTY
  if (mayAsk) {
    return askForScenario(given, name, context.io)
  }
  requireValid('name', checkName(name), name)
  return { name, title: flags.title ?? titleFromName(name), template: template ?? 'control' }
}

function readTemplate(text: string): ScenarioTemplate {
  const template = scenarioTemplates.find((known) => known === text)
  if (template) return template
  const nearest = nearestName(text, scenarioTemplates)
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--template is ${JSON.stringify(text.slice(0, 100))}, which is not a template`,
    hint: `${nearest ? `Did you mean ${nearest}? ` : ''}Use one of: ${scenarioTemplates.join(', ')}.`,
    data: { field: 'template', ...(nearest ? { suggestion: nearest } : {}) },
  })
}

/** Prompts for what is missing. Undefined when the user cancels. */
async function askForScenario(
  given: Partial<InitAnswers>,
  suggestedName: string,
  { stdin: input, stdout: output }: CommandIo,
): Promise<InitAnswers | undefined> {
  const name =
    given.name ??
    (await text({
      input,
      output,
      message: 'Package name',
      initialValue: suggestedName,
      validate: (value) => checkName(value ?? ''),
    }))
  if (isCancel(name)) return undefined
  const title =
    given.title ??
    (await text({
      input,
      output,
      message: 'Title',
      initialValue: titleFromName(name),
      validate: (value) => checkTitle(value ?? ''),
    }))
  if (isCancel(title)) return undefined
  const template =
    given.template ??
    (await select({
      input,
      output,
      message: 'Template',
      options: [
        { value: 'control' as const, label: 'control', hint: 'numbers in, action out' },
        { value: 'tools' as const, label: 'tools', hint: 'an agent that calls tools' },
      ],
    }))
  if (isCancel(template)) return undefined
  return { name, title: title.trim(), template }
}

export const scenarioTemplates = ['control', 'tools'] as const
type ScenarioTemplate = (typeof scenarioTemplates)[number]
type InitAnswers = { name: string; title: string; template: ScenarioTemplate }

const templatesFolder = fileURLToPath(new URL('../../templates', import.meta.url))
// A package manager leaves a .gitignore out of what it packs, so the template has another name.
const sources = {
  'package.json': 'package.json',
  'README.md': 'README.md',
  'tsconfig.json': 'tsconfig.json',
  'src/index.ts': 'src/index.ts',
  'src/index.test.ts': 'src/index.test.ts',
  gitignore: '.gitignore',
}

/** Path of each file in the new folder. */
const templateFiles = Object.values(sources)

/** Writes the files of a template; a file that already exists is an error. */
export async function writeTemplate(folder: string, answers: InitAnswers): Promise<string[]> {
  for (const [source, file] of Object.entries(sources)) {
    const path = join(folder, file)
    const text = await readFile(join(templatesFolder, answers.template, source), 'utf8')
    await namingFile(path, async () => {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, fillIn(file, text, answers), { flag: 'wx' })
    })
  }
  return templateFiles
}

function fillIn(file: string, text: string, { name, title }: InitAnswers): string {
  if (file !== 'package.json')
    return text.replaceAll('{{title}}', () => title).replaceAll('{{agent}}', unscopedName(name))
  const manifest = JSON.parse(text)
  return `${JSON.stringify({ ...manifest, name, agentgym: { ...manifest.agentgym, title } }, null, 2)}\n`
}
