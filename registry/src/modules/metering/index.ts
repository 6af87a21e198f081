/** Metering of hosted calls: admission and cost. */
export { callTerms } from './call-terms.ts'
export { type CallerAccess, callsPrice, readCallerAccess } from './caller-access.ts'
export { countServed } from './count-usage.ts'
export { meteringModule } from './metering.module.ts'
export { holdTrial, openTrialCalls } from './usage.store.ts'
