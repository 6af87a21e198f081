import { type ListedPackage, type PackageList, packageListSchema } from '@agentgym/contract'
import type { Command } from 'commander'
import { findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { listedPriceText } from '../market/price-text.ts'
import { cursorText, pageRange, wholeNumber } from '../option-values.ts'
import { callApi } from '../registry/call-api.ts'
import { formatCount } from '../terminal/format-values.ts'
import { renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, safeText, shellQuote } from '../terminal/text.ts'

export function addSearchCommand(program: Command, action: MakeAction): void {
  program
    .command('search')
    .argument('[QUERY...]', 'search words; without them, all packages are listed')
    .description('search the registry for scenarios and agents')
    .option('--kind <KIND>', 'scenario or agent')
    .option('--category <NAME>', 'such as control or tool-use')
    .option('--difficulty <NAME>', 'beginner, intermediate, advanced or expert')
    .option('--algorithm <NAME>', 'such as ppo')
    .option('--price <PRICE>', 'free or paid')
    .option('--scenario <NAME>', 'agents trained on this scenario, such as @acme/cart-pole')
    .option('--solved <ANSWER>', 'yes: agents that are verified and meet all targets; no: the others')
    .option('--sort <ORDER>', 'relevance, downloads, newest or quality')
    .option('--limit <N>', 'packages per page (default: 20)', wholeNumber('limit', pageRange))
    .option('--cursor <CURSOR>', cursorText)
    .action(action(search))
}

export type SearchFlags = {
  kind?: string
  category?: string
  difficulty?: string
  algorithm?: string
  price?: string
  scenario?: string
  solved?: string
  sort?: string
  limit?: number
  cursor?: string
}

/** `agentgym search`: searches packages by words and filters, one page at a time. */
export async function search(words: readonly string[], flags: SearchFlags, context: CommandContext): Promise<void> {
  const { terminal } = context
  const q = words.join(' ')
  const found = await callApi(await findConnection(context), {
    path: '/v1/packages',
    query: { q: q || undefined, ...flags },
    answer: packageListSchema,
  })
  context.printJson(found)
  if (context.json) return
  if (found.packages.length === 0) {
    context.print(
      `No packages match${q ? ` ${JSON.stringify(safeText(q, 100))}` : ''}${hasFilter(flags) ? ' with these filters' : ''}.`,
    )
    context.print(`${terminal.symbols.next} Try fewer words or filters: ${terminal.paint.accent('agentgym search')}`)
    return
  }
  for (const line of packageLines(found.packages, terminal)) context.print(line)
  for (const line of footLines(found, q, flags, terminal)) context.print(line)
}

function hasFilter({ kind, category, difficulty, algorithm, price, scenario, solved }: SearchFlags): boolean {
  return [kind, category, difficulty, algorithm, price, scenario, solved].some((value) => value !== undefined)
}

function packageLines(packages: readonly ListedPackage[], terminal: Terminal): string[] {
  const columns = [
    { title: 'Package' },
    { title: 'Version' },
    { title: 'Kind' },
    { title: 'Difficulty' },
    { title: 'Price', align: 'right' as const },
    { title: 'Downloads', align: 'right' as const },
    { title: 'Quality', align: 'right' as const },
  ]
  const rows = packages.map((one) => [
    safeText(one.name, 214),
    safeText(one.latest_version ?? '-', 30),
    one.kind,
    safeText(one.difficulty ?? '-', 20),
    listedPriceText(one),
    formatCount(one.downloads),
    String(one.quality),
  ])
  const [head, ...lines] = renderTable(columns, rows, terminal, (text, _, column) =>
    column === 0 ? terminal.paint.bold(text) : text,
  )
  const summary = (text: string) =>
    `  ${terminal.paint.dim(fitText(safeText(text, 280), terminal.columns() - 3, terminal.symbols.ellipsis))}`
  return [head, ...lines.flatMap((line, row) => [line, summary(packages[row].summary ?? packages[row].title ?? '-')])]
}

function footLines(found: PackageList, q: string, flags: SearchFlags, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const lines = [`${formatCount(found.packages.length)} of ${formatCount(found.total)} packages`]
  if (found.next_cursor !== null) {
    const filters = Object.entries(flags).filter(([name, value]) => name !== 'cursor' && value !== undefined)
    const words = [...(q ? [q] : []), ...filters.flatMap(([name, value]) => [`--${name}`, String(value)])]
    const more = ['agentgym search', ...words.map(shellQuote), '--cursor', shellQuote(found.next_cursor)].join(' ')
    lines.push(`${symbols.next} More: ${paint.accent(more)}`)
  } else {
    const name = shellQuote(found.packages[0].name)
    lines.push(`${symbols.next} Details: ${paint.accent(`agentgym info ${name}`)}`)
  }
  return lines
}
