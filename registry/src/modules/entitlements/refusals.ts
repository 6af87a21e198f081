import { AgentGymError, formatAmount } from '@agentgym/contract'
import type { Actor } from '../../core/access/authorise.ts'
import { packagePagePath } from '../../core/http/package-path.ts'
import type { HeldPrice } from './prices.store.ts'
import type { TakenDown } from './standing.ts'

export type Wanted = { name: string; version: string; major: number; publicUrl: string; actor: Actor | null }

/** A licence is to be bought first. Says how, and where: npm prints it. */
export function paymentRequired({ name, version, major, publicUrl, actor }: Wanted, price: HeldPrice): AgentGymError {
  const { id, kind, amountMinor, currency } = price
  const { page, command, cost } = howToBuy({ name, major, publicUrl }, price)
  return new AgentGymError({
    code: 'payment_required',
    message: `${name}@${version} has to be bought first.${cost}`,
    hint: `Run \`${command}\`, or buy it at ${page}.${ifBought(actor)}`,
    data: { name, version, price: { id, kind, amount_minor: amountMinor, currency }, command, page },
  })
}

type Price = Pick<HeldPrice, 'amountMinor' | 'currency'>

/** Where, by which command, and at what cost, as a sentence that may be empty. */
export function howToBuy(
  { name, major, publicUrl }: Pick<Wanted, 'name' | 'major' | 'publicUrl'>,
  { amountMinor, currency }: Price,
): { page: string; command: string; cost: string } {
  return {
    page: publicUrl + packagePagePath(name),
    command: `agentgym buy ${name}@${major}`,
    cost: currency === null ? '' : ` It costs ${formatAmount(amountMinor, currency)}, once, for all of ${major}.x.`,
  }
}

/** The same whether or not they have bought it: what a token without the scope cannot find out, its holder may know. */
function ifBought(actor: Actor | null): string {
  if (actor === null) return ' If you have bought it, log in with `agentgym login`.'
  if (!actor.scopes.has('packages:read'))
    return ' This token lacks the scope packages:read, without which it does not count what you have bought.'
  return ''
}

export function hostedOnly({ name, version, publicUrl }: Wanted): AgentGymError {
  return new AgentGymError({
    code: 'hosted_only',
    message: `${name}@${version} is trained on here and paid for by the run; nobody is given its files.`,
    hint: `Run \`agentgym train ${name} --remote\`. Its page is ${publicUrl}${packagePagePath(name)}.`,
    data: { name, version },
  })
}

export function packageTakenDown(name: string, { at, reason }: Pick<TakenDown, 'at' | 'reason'>): AgentGymError {
  return new AgentGymError({
    code: 'package_taken_down',
    message: `${name} was taken down on ${at.toISOString().slice(0, 10)}${reason === null ? '' : `: ${reason}`}`,
    hint: 'Nothing new is installed, bought or trained of it. Its page says what became of it.',
    data: { name, taken_down_at: at.toISOString(), reason },
  })
}
