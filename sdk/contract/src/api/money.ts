import { z } from 'zod'

/** Minor units (cents); never more than 10^15, so that every sum of prices is exact in JavaScript's numbers too. */
export const amountMinorSchema = z.int().positive().max(1e15)
/** ISO 4217. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/)
