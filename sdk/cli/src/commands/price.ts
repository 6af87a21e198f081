import { readFile } from 'node:fs/promises'
import { AgentGymError, formatAmount, type Price, type PricePage, type SetPriceRequest } from '@agentgym/contract'
import type { Command } from 'commander'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { readPrices, setPrice } from '../market/market-api.ts'
import { percentText, priceText } from '../market/price-text.ts'
import { percent, readAmount, wholeNumber } from '../option-values.ts'
import { requirePackageTarget } from '../registry/package-target.ts'
import { formatCount } from '../terminal/format-values.ts'
import { confirm, printWrapped } from '../terminal/prompts.ts'
import { fieldLines, renderTable, titleLine } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

export function addPriceCommand(program: Command, action: MakeAction): void {
  program
    .command('price')
    .argument('<NAME>', '@scope/name')
    .argument('[AMOUNT]', '12.50, free, or 0.50/run for a scenario that trains on this server only')
    .description('show or set the price of a package; raises take effect after the notice period')
    .option('--royalty <PERCENT>', 'scenarios: your share of each sale of an agent trained on it', percent('royalty'))
    .option(
      '--trial <CALLS>',
      'agents: free hosted calls per account before buying',
      wholeNumber('trial', { least: 0, greatest: 100_000 }),
    )
    .option('--calls <AMOUNT>', 'agents: price of 1,000 hosted calls, or free')
    .option('--terms <FILE>', 'text file with the terms of use')
    .option('-y, --yes', 'raise the price without asking for confirmation')
    .action(action(price))
}

type PriceFlags = {
  /** Basis points. */
  royalty?: number
  trial?: number
  calls?: string
  terms?: string
  yes?: boolean
}

/** `agentgym price NAME`: the price of a package; with an amount or terms, sets them. */
export async function price(
  name: string,
  text: string | undefined,
  flags: PriceFlags,
  context: CommandContext,
): Promise<void> {
  const target = requirePackageTarget(name)
  if (target.range !== undefined) throw wholePackage(target.name)
  const connection = await findConnection(context)
  const page = await readPrices(connection, target.name)
  const { yes, ...terms } = flags
  if (text === undefined && Object.values(terms).every((value) => value === undefined)) return show(page, context)
  await change(connection, page, { text, flags }, context)
}

function wholePackage(name: string): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: `prices apply to all versions of ${name}`,
    hint: `Omit the version: agentgym price ${shellQuote(name)} AMOUNT.`,
  })
}

function show(page: PricePage, context: CommandContext): void {
  context.printJson(page)
  for (const line of priceLines(page, context.terminal)) context.print(line)
  const { paint, symbols } = context.terminal
  const name = shellQuote(page.package)
  const [what, command] =
    page.current.kind === 'one_time'
      ? ['Buy it', `agentgym buy ${name}`]
      : page.current.kind === 'per_run'
        ? ['Train on it', `agentgym train ${name} --remote`]
        : ['Set a price', `agentgym price ${name} AMOUNT`]
  context.print(`${symbols.next} ${what}: ${paint.accent(command)}`)
}

type Wanted = { text: string | undefined; flags: PriceFlags }

async function change(connection: Connection, page: PricePage, wanted: Wanted, context: CommandContext): Promise<void> {
  const request = await requestOf(page, wanted, context)
  const { currency } = page.current
  const next = { kind: request.kind, amount_minor: request.amount_minor ?? 0, currency }
  // Repeating an announced raise is not a raise.
  const raises = costsMore(page.upcoming ?? page.current, next)
  if (raises) {
    printWrapped(
      `The price of ${page.package} will rise from ${priceText(page.current)} to ${priceText(next)}. If the package is in use, it rises after the notice period. Existing purchases keep their access.`,
      context,
    )
  }
  const consent = {
    given: !raises || wanted.flags.yes === true,
    question: `Raise the price of ${page.package} to ${priceText(next)}?`,
    otherwise: 'Use --yes to skip the confirmation',
  }
  if (!(await confirm(consent, context))) return context.print('Nothing was changed.')
  const changed = await setPrice(connection, page.package, request)
  context.printJson(changed)
  for (const line of changedLines(changed, context)) context.print(line)
}

function changedLines(page: PricePage, { terminal }: CommandContext): string[] {
  const { paint, symbols } = terminal
  const name = paint.bold(safeText(page.package, 240))
  const later = page.upcoming
  const done = `${paint.accent(symbols.ok)} ${name}`
  const said =
    later === null
      ? `${done} is ${priceText(page.current)}`
      : `${done} will be ${priceText(later)} from ${later.effective_at.slice(0, 10)}; ${priceText(page.current)} until then`
  const show = `agentgym price ${shellQuote(page.package)}`
  const terms = page.upcoming_terms
  const announced =
    terms === null
      ? []
      : [`${symbols.warning} Royalty, call prices or trial calls change on ${terms.effective_at.slice(0, 10)}`]
  return [said, ...announced, `${symbols.next} Price, terms and history: ${paint.accent(show)}`]
}

/** Whether any buyer would pay more than now. */
function costsMore(now: Pick<Price, 'kind' | 'amount_minor'>, next: Pick<Price, 'kind' | 'amount_minor'>): boolean {
  if (next.kind === 'free') return false
  return (
    now.kind === 'free' || next.amount_minor > now.amount_minor || (now.kind === 'one_time' && next.kind !== now.kind)
  )
}

/** Without an amount the price stays as it is, or as announced. */
async function requestOf(
  { current, upcoming }: PricePage,
  { text, flags }: Wanted,
  context: CommandContext,
): Promise<SetPriceRequest> {
  const { royalty, trial, calls, terms } = flags
  const stays = upcoming ?? current
  const price =
    text === undefined
      ? { kind: stays.kind, amount_minor: stays.amount_minor || undefined }
      : readPrice(text, current.currency)
  return {
    ...price,
    royalty_basis_points: royalty,
    trial_calls: trial,
    calls_price_minor: calls === undefined ? undefined : readCalls(calls, current.currency),
    terms: terms === undefined ? undefined : await readTerms(terms, context),
  }
}

/** `12.50`, `0.50/run`, `free`. */
function readPrice(text: string, currency: string): Pick<SetPriceRequest, 'kind' | 'amount_minor'> {
  const word = text.trim().toLowerCase()
  if (word === 'free') return { kind: 'free' }
  const [, amount, perRun] = /^(.*?)(\/run)?$/s.exec(word) ?? []
  const name = { name: 'AMOUNT', meaning: 'a price, free, or a price per training run such as 0.50/run' }
  return { kind: perRun ? 'per_run' : 'one_time', amount_minor: readAmount(amount, currency, name) }
}

function readCalls(text: string, currency: string): number {
  if (text.trim().toLowerCase() === 'free') return 0
  return readAmount(text, currency, { name: '--calls', meaning: 'the price of 1,000 hosted calls, or free' })
}

async function readTerms(path: string, context: CommandContext): Promise<string> {
  try {
    return (await readFile(context.resolve(path), 'utf8')).trim()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new AgentGymError(
      {
        code: 'file_not_found',
        message: `cannot read the terms in ${safeText(path, 200)} (${code})`,
        hint: 'Pass a text file: --terms TERMS.txt. Buyers see its full text.',
        data: { path },
      },
      { cause: error },
    )
  }
}

/** Current, announced and past prices of a package, and the terms of its sale. */
export function priceLines(page: PricePage, terminal: Terminal): string[] {
  return [
    titleLine('Price of', page.package, terminal),
    ...fieldLines([...pricePairs(page), ...termPairs(page)], terminal),
    ...historyLines(page, terminal),
  ]
}

function pricePairs({ current, upcoming, upcoming_terms: later }: PricePage): [string, string][] {
  const pairs: [string, string][] = [['now', priceText(current)]]
  if (upcoming !== null) pairs.push(['later', `${priceText(upcoming)} from ${dayOf(upcoming.effective_at)}`])
  if (later !== null) {
    const { royalty_basis_points: royalty, calls_price_minor: calls, trial_calls: trial } = later
    const calling = `1,000 hosted calls ${formatAmount(calls, current.currency)}, ${formatCount(trial)} free`
    const text = `royalty ${percentText(royalty)}, ${calling}`
    pairs.push(['new terms', `${text} from ${dayOf(later.effective_at)}`])
  }
  return pairs
}

function termPairs(page: PricePage): [string, string][] {
  const { royalty_basis_points: royalty, trial_calls: trial, calls_price_minor: calls, terms, current } = page
  const pairs: [string, string][] = []
  if (royalty > 0) pairs.push(['royalty', `${percentText(royalty)} of each sale of an agent trained on it`])
  if (calls > 0) pairs.push(['calls', `${formatAmount(calls, current.currency)} for 1,000 hosted calls`])
  if (trial > 0) pairs.push(['trial', `${formatCount(trial)} free hosted calls per account`])
  if (terms !== '') pairs.push(['terms', terms])
  return pairs
}

/** Nothing for a price that never changed: it is shown above. */
function historyLines({ history }: PricePage, terminal: Terminal): string[] {
  if (history.length < 2) return []
  const columns = [{ title: 'From' }, { title: 'Price' }]
  return renderTable(
    columns,
    history.map((price) => [dayOf(price.effective_at), priceText(price)]),
    terminal,
  )
}

function dayOf(moment: string): string {
  return moment.slice(0, 10)
}
