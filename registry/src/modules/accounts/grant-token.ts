import { AgentGymError } from '@agentgym/contract'
import type { Actor, Scope } from '../../core/access/actor.ts'

/** How long a token holds where nobody says. */
export const defaultTokenDays = 90

/** Nobody hands out what they do not have; workers are the operators' business. */
export function requireGrantable(actor: Actor, wanted: readonly Scope[]): void {
  if (wanted.includes('worker') && !actor.operator)
    throw new AgentGymError({
      code: 'forbidden',
      message: 'Only operators of this server may make tokens for workers.',
      data: { scope: 'worker' },
    })
  const missing = wanted.find((scope) => !actor.scopes.has(scope))
  if (missing !== undefined)
    throw new AgentGymError({
      code: 'forbidden',
      message: `A token without the scope ${missing} cannot make one that has it.`,
      data: { needs_scope: missing },
    })
}

export function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * 86_400_000)
}
