/**
 * What the tools do, simulated: one function each, with the arguments that the agent chose. As written, a lookup shows its records,
 * and every other call succeeds.
 */
import type { ArgumentsOf } from '@agentgym/scenario'
import type { Records } from './records.ts'
import type { ListName, parameters } from './tools.ts'

/** What a call did. `shows`: lists that the agent sees from then on. `failed`: nothing happened, and it can be made again. */
export type Result = { shows?: readonly ListName[]; failed?: boolean }
type Arguments<Name extends keyof typeof parameters> = ArgumentsOf<(typeof parameters)[Name]>

export const backEnd = {
  /** Search the customer's orders */
  search_orders(_records: Records): Result {
    // REPLACE: change the records, fail where the real tool would.
    return { shows: ['orders'] }
  },

  /** Refund an order. Cannot be undone. */
  refund_order(_records: Records, _args: Arguments<'refund_order'>): Result {
    // REPLACE: change the records, fail where the real tool would.
    return {}
  },

  /** Hand the conversation to a person */
  escalate(_records: Records, _args: Arguments<'escalate'>): Result {
    // REPLACE: change the records, fail where the real tool would.
    return {}
  },
}
