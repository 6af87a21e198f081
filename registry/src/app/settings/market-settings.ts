import { z } from 'zod'
import type { MarketConfig } from '../../core/services.ts'

const basisPoints = z
  .string()
  .regex(/^\d{1,5}$/, 'a whole number')
  .transform(Number)
  .refine((value) => value <= 10_000, 'a number from 0 to 10000')
const days = z
  .string()
  .regex(/^\d{1,4}$/, 'a whole number')
  .transform(Number)
  .refine((value) => value <= 3_650, 'a number from 0 to 3650')
/** Printable, without a space; never shown. */
const secret = z.string().regex(/^[\x21-\x7e]{8,}$/, 'at least 8 printable characters without a space')

export const marketVariables = {
  AGENTGYM_PLATFORM_FEE_BASIS_POINTS: basisPoints,
  AGENTGYM_ROYALTY_CAP_BASIS_POINTS: basisPoints,
  AGENTGYM_PRICE_NOTICE_DAYS: days,
  AGENTGYM_PAYOUT_HOLD_DAYS: days,
  AGENTGYM_STRIPE_SECRET_KEY: secret,
  AGENTGYM_STRIPE_WEBHOOK_SECRET: secret,
  AGENTGYM_STRIPE_API_ADDRESS: z
    .string()
    .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'an address with http: or https:'),
  AGENTGYM_MONEY_ON_PGLITE: z.literal('allow', 'allow, which takes real money into a database that may lose it'),
}

type Read = { [Name in keyof typeof marketVariables]?: z.output<(typeof marketVariables)[Name]> }

/** Defaults for what is not set. `refuse` throws, naming a variable that is wrong beside the others. */
export function marketSettings(read: Read, refuse: (variable: string, what: string) => Error): MarketConfig {
  const feeBasisPoints = read.AGENTGYM_PLATFORM_FEE_BASIS_POINTS ?? 1_000
  const royaltyCapBasisPoints = read.AGENTGYM_ROYALTY_CAP_BASIS_POINTS ?? 2_000
  if (feeBasisPoints + royaltyCapBasisPoints > 10_000)
    throw refuse(
      'AGENTGYM_ROYALTY_CAP_BASIS_POINTS',
      'and AGENTGYM_PLATFORM_FEE_BASIS_POINTS are more than a whole price, 10000, together',
    )
  return {
    feeBasisPoints,
    royaltyCapBasisPoints,
    priceNoticeDays: read.AGENTGYM_PRICE_NOTICE_DAYS ?? 7,
    payoutHoldDays: read.AGENTGYM_PAYOUT_HOLD_DAYS ?? 14,
    stripe: stripeSettings(read, refuse),
    moneyOnPglite: read.AGENTGYM_MONEY_ON_PGLITE === 'allow',
  }
}

function stripeSettings(read: Read, refuse: (variable: string, what: string) => Error): MarketConfig['stripe'] {
  const { AGENTGYM_STRIPE_SECRET_KEY: secretKey, AGENTGYM_STRIPE_WEBHOOK_SECRET: webhookSecret } = read
  if (secretKey === undefined && webhookSecret === undefined) return null
  if (secretKey === undefined) throw refuse('AGENTGYM_STRIPE_SECRET_KEY', 'is missing beside the webhook secret')
  if (webhookSecret === undefined) throw refuse('AGENTGYM_STRIPE_WEBHOOK_SECRET', 'is missing beside the secret key')
  return { secretKey, webhookSecret, apiAddress: read.AGENTGYM_STRIPE_API_ADDRESS ?? null }
}
