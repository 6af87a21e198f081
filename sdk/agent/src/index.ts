export type { ActOptions, Agent, Choice, Decision } from './agent.ts'
export { type LoadOptions, loadAgent } from './load-agent.ts'
