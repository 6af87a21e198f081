import { formatAmount } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { budgetWord, readAmount } from '../command-line-amounts.ts'
import { shortId } from '../registry/find-by-id.ts'
import { findRun } from '../runs/find-run.ts'
import { cancelRun, hasEnded, resumeRun } from '../runs/run-api.ts'
import { howToFollow } from '../runs/watch-run-here.ts'

/** `agentgym runs cancel`: a queued run ends at once; a worker that has it saves a checkpoint first. */
export async function runsCancel(text: string, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const run = await cancelRun(connection, (await findRun(connection, text)).id)
  context.sayJson(run)
  const { paint, symbols } = context.terminal
  const id = shortId(run.id)
  if (hasEnded(run)) {
    context.say(`${paint.accent(symbols.ok)} The run ${paint.bold(id)} is cancelled`)
    return
  }
  context.say(`${paint.accent(symbols.ok)} The run ${paint.bold(id)} ends as soon as its worker has saved a checkpoint`)
  context.say(`${symbols.next} See it end: ${paint.accent(`agentgym runs watch ${id}`)}`)
}

/** `agentgym runs resume`: a run that used up its budget goes on from its last checkpoint with a higher one. */
export async function runsResume(text: string, flags: { budget: string }, context: CommandContext): Promise<void> {
  const connection = await findConnection(context)
  const found = await findRun(connection, text)
  const budget = readAmount(flags.budget, found.cost.currency, budgetWord)
  const run = await resumeRun(connection, found.id, budget)
  context.sayJson(run)
  const { symbols } = context.terminal
  const { currency, spent_minor: spent } = run.cost
  context.say(
    `${symbols.next} Goes on with at most ${formatAmount(budget, currency)}, of which ${formatAmount(spent, currency)} are spent`,
  )
  for (const line of howToFollow(run, context)) context.say(line)
}
