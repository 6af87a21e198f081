import { parentPort } from 'node:worker_threads'
import { AgentGymError } from '@agentgym/contract'
import { checkPublishedModel } from '@agentgym/contract/model'
import type { ModelChecked, ModelToCheck } from './model-checker.ts'

function check({ bytes, policy }: ModelToCheck): ModelChecked {
  try {
    checkPublishedModel(bytes, { policy })
    return { fault: null }
  } catch (error) {
    if (error instanceof AgentGymError) return { fault: error.toReport() }
    return { bug: error instanceof Error ? (error.stack ?? error.message) : 'unknown' }
  }
}

parentPort?.on('message', (model: ModelToCheck) => parentPort?.postMessage(check(model)))
parentPort?.postMessage('ready')
