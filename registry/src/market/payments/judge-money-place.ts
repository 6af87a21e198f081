import { AgentGymError } from '@agentgym/contract'
import type { Services } from '../../server/services.ts'

/**
 * At start: PGlite does not wait for the disk, so a power cut may take back what was acknowledged. Says so where money is
 * play, and refuses real money there unless it was told to take it. Throws `money_needs_postgresql`.
 */
export function judgeMoneyPlace({ database, config, log }: Pick<Services, 'database' | 'config' | 'log'>): void {
  if (database.kind !== 'pglite') return
  const { stripe, moneyOnPglite } = config.market
  if (stripe === null) log.info('payments are play money; real money belongs on PostgreSQL (DATABASE_URL)')
  else if (moneyOnPglite) log.warn('real money is taken into PGlite, which may lose it with the power')
  else throw needsPostgresql()
}

function needsPostgresql(): AgentGymError {
  return new AgentGymError({
    code: 'money_needs_postgresql',
    message:
      'Stripe is set up, but the database is PGlite, which does not wait for the disk: it could lose real money.',
    hint: 'Set DATABASE_URL to a PostgreSQL server, or AGENTGYM_MONEY_ON_PGLITE=allow if losing it is acceptable.',
  })
}
