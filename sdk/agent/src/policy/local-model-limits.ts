import { type ModelLimits, modelLimits } from '@agentgym/contract/model'

/**
 * What a model may hold that somebody runs on their own machine, in a process that is watched: whatever training can
 * make. The registry takes smaller ones (`modelLimits`).
 */
export const localModelLimits: ModelLimits = {
  ...modelLimits,
  bytes: 2 ** 30,
  fields: 2 ** 22,
  nodes: 2 ** 16,
  parts: 2 ** 16,
  elements: 2 ** 24,
  elementsTotal: 2 ** 26,
  work: 2 ** 33,
}
