/** Agents behind HTTP, for clients of language models. */

export type { ToolPolicyRules } from './adapters/tool-policy.ts'
export { type AgentServerOptions, agentServer } from './server/agent-server.ts'
export { Episodes, episodesAt } from './server/episodes.ts'
export type { ServedChoice } from './server/joint-turn.ts'
export type { LanguageModelOptions } from './server/language-model.ts'
export { type Listening, listenAgents } from './server/listen.ts'
export { connectMcp, type McpConnection } from './server/mcp-stdio.ts'
export type { ServedAgent } from './server/served-agents.ts'
