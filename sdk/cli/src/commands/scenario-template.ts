import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { scenarioPackageSchema } from '@agentgym/contract'
import { unscopedName } from '../targets/built-in-scenarios.ts'

export const scenarioTemplates = ['control', 'tools'] as const
export type ScenarioTemplate = (typeof scenarioTemplates)[number]
export type InitAnswers = { name: string; title: string; template: ScenarioTemplate }

const templatesFolder = fileURLToPath(new URL('../../templates', import.meta.url))
// A package manager leaves a .gitignore out of what it packs, so the template has another name.
const sources = {
  'package.json': 'package.json',
  'README.md': 'README.md',
  'src/index.ts': 'src/index.ts',
  gitignore: '.gitignore',
}

/** Where each file of a template goes in the new folder. */
export const templateFiles = Object.values(sources)

/** Writes the files of a template; a file that has appeared meanwhile is an error, not overwritten. */
export async function writeTemplate(folder: string, answers: InitAnswers): Promise<string[]> {
  for (const [source, file] of Object.entries(sources)) {
    const path = join(folder, file)
    await mkdir(dirname(path), { recursive: true })
    const text = await readFile(join(templatesFolder, answers.template, source), 'utf8')
    await writeFile(path, fillIn(file, text, answers), { flag: 'wx' })
  }
  return templateFiles
}

function fillIn(file: string, text: string, { name, title }: InitAnswers): string {
  if (file !== 'package.json')
    return text.replaceAll('{{title}}', () => title).replaceAll('{{agent}}', unscopedName(name))
  const manifest = JSON.parse(text)
  return `${JSON.stringify({ ...manifest, name, agentgym: { ...manifest.agentgym, title } }, null, 2)}\n`
}

/** Why a name cannot be an npm name; undefined when it can. */
export function checkName(name: string): string | undefined {
  const parsed = scenarioPackageSchema.shape.name.safeParse(name)
  return parsed.success ? undefined : parsed.error.issues[0].message
}

/** Why a title will not do; undefined when it will. */
export function checkTitle(title: string): string | undefined {
  const parsed = scenarioPackageSchema.shape.agentgym.shape.title.safeParse(title.trim())
  return parsed.success ? undefined : 'one to 80 characters'
}

/** `My Maze` → `my-maze`. */
export function nameFromFolder(folder: string): string {
  return basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[._-]+|[._-]+$/g, '')
}

/** `@you/my-maze` → `My maze`. */
export function titleFromName(name: string): string {
  const words = unscopedName(name)
    .replace(/[._-]+/g, ' ')
    .trim()
  return (words.charAt(0).toUpperCase() + words.slice(1)).slice(0, 80)
}
