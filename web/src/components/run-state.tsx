import type { RunState as State } from '@agentgym/contract'
import { Badge } from './badge.tsx'

const shown: Record<State, { word: string; tone: 'plain' | 'good' | 'warning' | 'bad' }> = {
  queued: { word: 'queued', tone: 'plain' },
  running: { word: 'running', tone: 'warning' },
  completed: { word: 'completed', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
  cancelled: { word: 'cancelled', tone: 'plain' },
  budget_exceeded: { word: 'out of budget', tone: 'warning' },
}

/** How far a run of training is. */
export function RunState({ state }: { state: State }) {
  const { word, tone } = shown[state]
  return <Badge tone={tone}>{word}</Badge>
}
