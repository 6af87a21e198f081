import { readFileSync } from 'node:fs'
import { type ResultEvent, type TrainingEvent, trainingEventSchema } from '@agentgym/contract'
import type { TrainingPlan } from '../src/training-view/run-state.ts'

const path = new URL('../testdata/cart-pole-run.ndjson', import.meta.url)

/** What `agentgym train cart-pole --json` printed, line by line. */
export function recordedRun(): { events: TrainingEvent[]; result: ResultEvent } {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const events = lines.map((line) => trainingEventSchema.parse(JSON.parse(line)))
  const result = events.at(-1)
  if (result?.event !== 'result') throw new Error('the recording does not end with a result')
  return { events, result }
}

export const recordedPlan: TrainingPlan = {
  scenario: '@agentgym/cart-pole@1.0.0',
  title: 'Cart pole',
  algorithm: 'ppo',
  steps: 100_000,
  seed: 1,
  out: 'agents/cart-pole',
  resume: false,
  success: { return_mean: 475 },
  settings: { learning_rate: 0.001 },
}
