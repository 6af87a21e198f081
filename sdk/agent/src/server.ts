/** Agents behind HTTP, for clients of language models. */
export { type AgentServerOptions, agentServer, type ServedAgent } from './server/agent-server.ts'
export { type Listening, listenAgents } from './server/listen.ts'
