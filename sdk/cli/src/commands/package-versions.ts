import { packagePath, versionPath } from '@agentgym/client'
import { AgentGymError, type VersionList, versionListSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { z } from 'zod'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { callApi } from '../registry/call-api.ts'
import { requirePackageTarget } from '../registry/package-target.ts'
import { renderTable } from '../terminal/table.ts'
import { safeText } from '../terminal/text.ts'

/** Commands for published versions. */
export function addVersionCommands(program: Command, action: MakeAction): void {
  program
    .command('versions')
    .argument('<NAME>', '@scope/name')
    .description('list the versions of a package with their tags and state')
    .action(action(versions))
  program
    .command('tag')
    .argument('<VERSION>', '@scope/name@1.0.0; with --remove, @scope/name')
    .argument('<TAG>', 'name of the tag, such as next')
    .description('tag a version')
    .option('--remove', 'remove the tag')
    .action(action(tag))
  program
    .command('deprecate')
    .argument('<VERSION>', '@scope/name@1.0.0')
    .argument('<MESSAGE>', 'reason and alternative; an empty message removes the warning')
    .description('warn users who install a version')
    .action(action(deprecate))
  program
    .command('yank')
    .argument('<VERSION>', '@scope/name@1.0.0')
    .description('exclude a version from ranges and tags; lock files can still install it')
    .option('--undo', 'restore a yanked version')
    .action(action(yank))
}

/** `agentgym versions`: every version of a package, newest first, with its tags. */
export async function versions(name: string, context: CommandContext): Promise<void> {
  const target = requirePackageTarget(name)
  const found = await callApi(await findConnection(context), {
    path: `${packagePath(target.name)}/versions`,
    answer: versionListSchema,
  })
  context.printJson(found)
  if (context.json) return
  const tags = Object.entries(found.tags)
  const rows = found.versions.map((one) => [
    safeText(one.version, 64),
    tags.flatMap(([tag, version]) => (version === one.version ? [safeText(tag, 60)] : [])).join(', '),
    one.published_at?.slice(0, 10) ?? '-',
    safeText(stateText(one), 200),
  ])
  const columns = [{ title: 'Version' }, { title: 'Tags' }, { title: 'Published' }, { title: 'State', shrink: true }]
  const { terminal } = context
  for (const line of renderTable(columns, rows, terminal, (text, _, column) =>
    column === 0 ? terminal.paint.bold(text) : text,
  ))
    context.print(line)
}

function stateText(one: VersionList['versions'][number]): string {
  if (one.yanked) return 'yanked'
  if (one.deprecated) return `deprecated: ${one.deprecated}`
  return one.state
}

/** `agentgym tag`: sets or removes a tag. */
export async function tag(
  target: string,
  name: string,
  { remove }: { remove?: boolean },
  context: CommandContext,
): Promise<void> {
  const parsed = requirePackageTarget(target)
  const path = `${packagePath(parsed.name)}/tags/${encodeURIComponent(name)}`
  const version = remove ? null : exactVersion(target)
  await callApi(await findConnection(context), {
    method: remove ? 'DELETE' : 'PUT',
    path,
    ...(remove ? {} : { json: { version } }),
    answer: z.any(),
  })
  context.printJson({ name: parsed.name, tag: name, version })
  const shown = safeText(name, 100)
  printDone(
    context,
    remove ? `Removed the tag ${shown} from ${parsed.name}` : `${parsed.name}@${shown} is now ${version}`,
  )
}

/** `agentgym deprecate`: warns users who install a version; an empty message removes the warning. */
export async function deprecate(target: string, message: string, context: CommandContext): Promise<void> {
  const { name } = requirePackageTarget(target)
  const version = exactVersion(target)
  await callApi(await findConnection(context), {
    method: 'PUT',
    path: `${versionPath(name, version)}/deprecation`,
    json: { message },
    answer: z.any(),
  })
  context.printJson({ name, version, deprecated: message === '' ? null : message })
  printDone(context, `${name}@${version} is ${message === '' ? 'no longer deprecated' : 'deprecated'}`)
}

/** `agentgym yank`: excludes a version from ranges and tags; lock files and exact versions still install it. */
export async function yank(target: string, { undo }: { undo?: boolean }, context: CommandContext): Promise<void> {
  const { name } = requirePackageTarget(target)
  const version = exactVersion(target)
  await callApi(await findConnection(context), {
    method: undo ? 'DELETE' : 'PUT',
    path: `${versionPath(name, version)}/yank`,
    answer: z.any(),
  })
  context.printJson({ name, version, yanked: !undo })
  printDone(context, `${name}@${version} is ${undo ? 'restored' : 'yanked: ranges and tags skip it'}`)
}

function exactVersion(target: string): string {
  const { name, range } = requirePackageTarget(target)
  if (range !== undefined && /^\d/.test(range)) return range
  throw new AgentGymError({
    code: 'version_invalid',
    message: `${JSON.stringify(target.slice(0, 200))} is not an exact version`,
    hint: `Use the form ${name}@1.0.0. List the versions with agentgym versions ${name}.`,
    data: { field: 'version' },
  })
}

function printDone(context: CommandContext, text: string): void {
  const { paint, symbols } = context.terminal
  context.print(`${paint.accent(symbols.ok)} ${safeText(text, 500)}`)
}
