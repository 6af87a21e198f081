import { isCancel, select, text } from '@clack/prompts'
import type { CommandIo } from '../command-io.ts'
import { checkName, checkTitle, type InitAnswers, titleFromName } from './scenario-template.ts'

/** Asks for what was not given. Undefined when the user cancelled. */
export async function askForScenario(
  given: Partial<InitAnswers>,
  suggestedName: string,
  { stdin: input, stdout: output }: CommandIo,
): Promise<InitAnswers | undefined> {
  const name =
    given.name ??
    (await text({
      input,
      output,
      message: 'Name of the package',
      initialValue: suggestedName,
      validate: (value) => checkName(value ?? ''),
    }))
  if (isCancel(name)) return undefined
  const title =
    given.title ??
    (await text({
      input,
      output,
      message: 'Title, as people will read it',
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
        { value: 'control' as const, label: 'control', hint: 'numbers in, an action out' },
        { value: 'tools' as const, label: 'tools', hint: 'an agent that picks tools and their parameters' },
      ],
    }))
  if (isCancel(template)) return undefined
  return { name, title: title.trim(), template }
}
