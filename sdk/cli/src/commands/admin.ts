import type { AuditFinding } from '@agentgym/registry'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { wholeNumber } from '../option-values.ts'
import { formatBytes, formatCount } from '../terminal/format-values.ts'
import { countProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'
import { type DataFlags, dataOption, settingsOf } from './server-data.ts'

/** `agentgym admin …`: what an operator does with the data of a server, by the same settings as `agentgym serve`. */
export function addAdminCommands(program: Command, action: MakeAction): void {
  const group = program
    .command('admin')
    .usage('COMMAND [options]')
    .description('back up, restore, audit, migrate and move the data of a server')
  group
    .command('backup')
    .argument(
      '<PLACE>',
      'a folder, or s3://BUCKET/PREFIX; each run adds a backup, and copies only objects that are new',
    )
    .description('back up database and objects; beside a running server on PostgreSQL, else with the server stopped')
    .option('--keep <N>', 'delete all but the newest N backups', wholeNumber('keep', { least: 1, greatest: 100_000 }))
    .option(...dataOption)
    .action(action(adminBackup))
  group
    .command('restore')
    .argument('<PLACE>', 'the folder of backups, or s3://BUCKET/PREFIX')
    .description('restore a backup into an empty database, and its objects into the store')
    .option('--backup <NAME>', 'such as 2026-11-30T12-00-00Z (default: the newest)')
    .option(...dataOption)
    .action(action(adminRestore))
  group
    .command('audit')
    .description('check the ledger, orders and stored objects; exits with 1 if anything is wrong')
    .option('--contents', 'also read every object and compare it with its hash')
    .option(...dataOption)
    .action(action(adminAudit))
  group
    .command('migrate')
    .description('bring the database up to date with this version, as starting a server does')
    .option(...dataOption)
    .action(action(adminMigrate))
  group
    .command('move')
    .description(
      'copy a stopped server with an embedded database to PostgreSQL (DATABASE_URL) and its bucket (AGENTGYM_S3_…)',
    )
    .option(...dataOption)
    .action(action(adminMove))
}

async function adminBackup(place: string, flags: DataFlags & { keep?: number }, context: CommandContext) {
  const { backUpInstallation } = await import('@agentgym/registry')
  const progress = countProgress('objects', context)
  const to = placeOf(place, context)
  const options = { to, keep: flags.keep, onProgress: progress.update }
  const { backup, copied, deleted } = await backUpInstallation(settingsOf(flags, context), options).finally(
    progress.close,
  )
  const { name, objects, migrations } = backup
  context.printJson({ backup: name, folder: to, objects, migrations, copied, deleted })
  const { paint } = context.terminal
  done(`Backup ${paint.bold(name)} in ${safeText(to === place ? to : context.displayPath(to))}`, context)
  const fresh = copied.objects === 0 ? 'none new' : `${formatCount(copied.objects)} new, ${formatBytes(copied.bytes)}`
  context.print(`  ${formatCount(objects)} objects (${fresh})`)
  if (deleted.length > 0) context.print(`  Deleted ${deleted.join(', ')}`)
}

async function adminRestore(place: string, flags: DataFlags & { backup?: string }, context: CommandContext) {
  const { restoreInstallation } = await import('@agentgym/registry')
  const progress = countProgress('objects', context)
  const options = { from: placeOf(place, context), backup: flags.backup, onProgress: progress.update }
  const { backup, copied, missing } = await restoreInstallation(settingsOf(flags, context), options).finally(
    progress.close,
  )
  context.printJson({ backup: backup.name, at: backup.at, objects: backup.objects, copied, missing })
  done(`Restored ${context.terminal.paint.bold(backup.name)}: the state of ${backup.at}`, context)
  context.print(`  ${formatCount(backup.objects)} objects (${formatCount(copied)} copied)`)
  if (missing.length > 0)
    context.print(`  ${formatCount(missing.length)} objects had expired; the server removes what names them`)
  context.print('  Next: agentgym admin audit, then agentgym serve')
}

/** A bucket is named by its address, a folder by its path. */
const placeOf = (place: string, context: CommandContext): string =>
  place.startsWith('s3://') ? place : context.resolve(place)

async function adminAudit(flags: DataFlags & { contents?: boolean }, context: CommandContext): Promise<void> {
  const { auditOf } = await import('@agentgym/registry')
  const progress = countProgress('objects', context)
  const { contents = false } = flags
  const { findings, objects } = await auditOf(settingsOf(flags, context), {
    contents,
    onProgress: progress.update,
  }).finally(progress.close)
  context.printJson({ findings, objects, contents })
  if (findings.length === 0) {
    const read = contents ? 'intact' : 'present'
    done(`The ledger and the market agree, and all ${formatCount(objects)} objects are ${read}`, context)
    return
  }
  reportFindings(findings, context)
}

function reportFindings(findings: AuditFinding[], context: CommandContext): void {
  if (findings.length === 0) return
  context.exitCode = 1
  const { paint, symbols } = context.terminal
  for (const { rule, subject, detail } of findings) {
    context.print(`${paint.fail(symbols.failed)} ${safeText(subject, 100)}  ${safeText(rule, 200)}`)
    context.print(`  ${safeText(detail, 500)}`)
  }
  context.print(`${formatCount(findings.length)} findings`)
}

async function adminMigrate(flags: DataFlags, context: CommandContext): Promise<void> {
  const { migrateDatabase } = await import('@agentgym/registry')
  const { before, after } = await migrateDatabase(settingsOf(flags, context))
  context.printJson({ before, after })
  const applied = after - before
  done(
    applied === 0
      ? `The database is up to date (${after} migrations)`
      : `Applied ${applied} migrations; the database has ${after}`,
    context,
  )
}

async function adminMove(flags: DataFlags, context: CommandContext): Promise<void> {
  const { moveInstallation } = await import('@agentgym/registry')
  const progress = stageProgress(context)
  const moved = await moveInstallation(settingsOf(flags, context), { onProgress: progress.update }).finally(
    progress.close,
  )
  context.printJson(moved)
  const { tables, rows, objects, copied, findings } = moved
  done(`Moved ${formatCount(rows)} rows of ${tables} tables and ${formatCount(objects)} objects`, context)
  context.print(`  ${formatCount(copied.objects)} objects copied (${formatBytes(copied.bytes)})`)
  reportFindings(findings, context)
  context.print('  Next: agentgym serve with the same settings. The old folder is unchanged; do not serve it again.')
}

/** The progress of one kind of work after another. */
function stageProgress(context: CommandContext) {
  let stage: { what: string; progress: ReturnType<typeof countProgress> } | undefined
  return {
    update: (what: string, done: number, total: number) => {
      if (stage?.what !== what) {
        stage?.progress.close()
        stage = { what, progress: countProgress(what, context) }
      }
      stage.progress.update(done, total)
    },
    close: () => stage?.progress.close(),
  }
}

function done(text: string, { terminal, print }: CommandContext): void {
  print(`${terminal.paint.accent(terminal.symbols.ok)} ${text}`)
}
