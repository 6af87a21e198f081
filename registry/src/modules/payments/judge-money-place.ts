import { AgentGymError } from '@agentgym/contract'
import type { Services } from '../../core/services.ts'
import { providerName } from './open-provider.ts'

type Judged = Pick<Services, 'database' | 'config' | 'log'>

/**
 * At start, whether this database may hold the money of this provider. Throws `money_needs_postgresql`, and `config_invalid`
 * where it holds another provider's: play money that was earned would be paid out as real.
 */
export async function judgeMoneyPlace(services: Judged): Promise<void> {
  judgeEngine(services)
  const { query } = services.database
  const others = await query
    .selectFrom('payments')
    .select('provider')
    .where('provider', '<>', providerName(services))
    .where('state', 'in', ['succeeded', 'disputed'])
    .limit(1)
    .executeTakeFirst()
  if (others !== undefined) throw otherMoney(others.provider, providerName(services))
}

/**
 * PGlite does not wait for the disk, so a power cut may take back what was acknowledged. Says so where money is
 * play, and refuses real money there unless it was told to take it.
 */
function judgeEngine({ database, config, log }: Judged): void {
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

function otherMoney(theirs: string, ours: string): AgentGymError {
  const [holds, takes] = [theirs, ours].map((name) => (name === 'test' ? 'play money' : `money paid through ${name}`))
  return new AgentGymError({
    code: 'config_invalid',
    message: `The database holds ${holds}, and the settings say to take ${takes}: the two would become one.`,
    hint: 'Give the server a database of its own, or leave AGENTGYM_STRIPE_SECRET_KEY as it was.',
    data: { field: 'AGENTGYM_STRIPE_SECRET_KEY' },
  })
}
