export type { ActOptions, Agent, AgentTypes, Choice, Decision } from './agent.ts'
export { type LoadOptions, loadAgent } from './load-agent.ts'
