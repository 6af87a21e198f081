import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentGymError, nearestName } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'
import {
  checkName,
  checkTitle,
  type InitAnswers,
  nameFromFolder,
  type ScenarioTemplate,
  scenarioTemplates,
  templateFiles,
  titleFromName,
  writeTemplate,
} from './scenario-template.ts'

export type InitFlags = { template?: string; name?: string; title?: string; yes?: boolean }

/** `agentgym scenario init`: writes a small scenario that works. Existing files are never overwritten. */
export async function scenarioInit(directory: string, flags: InitFlags, context: CommandContext): Promise<void> {
  const folder = context.resolve(directory)
  await refuseConflicts(folder, context)
  const answers = await answer(folder, flags, context)
  if (!answers) {
    context.say('Nothing was written.')
    context.exitCode = 1
    return
  }
  const files = await writeTemplate(folder, answers)
  context.sayJson({ ...answers, folder, files })
  const { paint, symbols } = context.terminal
  const path = context.displayPath(folder)
  context.say(
    `${paint.accent(symbols.ok)} Wrote the scenario ${paint.bold(safeText(answers.name))} to ${safeText(path)}: ${files.join(', ')}`,
  )
  context.say(`${symbols.next} Check it in the sandbox: ${paint.accent(`agentgym scenario check ${shellQuote(path)}`)}`)
}

async function refuseConflicts(folder: string, context: CommandContext): Promise<void> {
  const entry = await stat(folder).catch(() => undefined)
  const shown = shellQuote(context.displayPath(folder))
  if (entry && !entry.isDirectory()) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: `${shown} is a file, not a folder`,
      hint: 'Name a new or empty folder.',
      data: { path: folder },
    })
  }
  const present = templateFiles.filter((file) => existsSync(join(folder, file)))
  if (present.length === 0) return
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `${shown} already holds ${present.join(', ')}; nothing was written`,
    hint: 'Name another folder, or move these files away.',
    data: { path: folder, files: present },
  })
}

async function answer(folder: string, flags: InitFlags, context: CommandContext): Promise<InitAnswers | undefined> {
  const template = flags.template === undefined ? undefined : readTemplate(flags.template)
  const name = flags.name ?? nameFromFolder(folder)
  const given = { name: flags.name, title: flags.title, template }
  if (flags.name !== undefined) requireValid('name', checkName(flags.name), flags.name)
  if (flags.title !== undefined) requireValid('title', checkTitle(flags.title), flags.title)
  const mayAsk = !flags.yes && !context.json && context.terminal.live && context.io.stdin.isTTY
  if (mayAsk) {
    const { askForScenario } = await import('./scenario-init-prompts.ts')
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
    message: `--template is ${JSON.stringify(text.slice(0, 100))}, which is no template`,
    hint: `${nearest ? `Did you mean ${nearest}? ` : ''}Use one of: ${scenarioTemplates.join(', ')}.`,
    data: { field: 'template', ...(nearest ? { suggestion: nearest } : {}) },
  })
}

function requireValid(field: string, problem: string | undefined, value: string): void {
  if (problem === undefined) return
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--${field} is ${JSON.stringify(value.slice(0, 250))}, which is not ${problem}`,
    hint:
      field === 'name'
        ? 'Give a name such as my-maze or @you/my-maze with --name.'
        : 'Give a shorter one with --title.',
    data: { field },
  })
}
