/** Hosted calls: who may call an agent, and what calls cost. */
export { callTerms } from './call-terms.ts'
export { type CallerStanding, callerStandings, callsPrice } from './caller-standing.ts'
export { countServed } from './count-usage.ts'
export { meteringModule } from './metering.module.ts'
export { holdTrial, openTrialCalls } from './usage.store.ts'
