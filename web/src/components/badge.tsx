import type { RunState as State } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import { Icon } from './icon.tsx'

/** One word about a thing: its kind, its state. `tone` never says more than the word does. */
export function Badge({ children, tone = 'plain' }: { children?: Child; tone?: 'plain' | 'good' | 'warning' | 'bad' }) {
  return <span class={`badge badge-${tone}`}>{children}</span>
}

const runStates: Record<State, { word: string; tone: 'plain' | 'good' | 'warning' | 'bad' }> = {
  queued: { word: 'queued', tone: 'plain' },
  running: { word: 'running', tone: 'warning' },
  completed: { word: 'completed', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
  cancelled: { word: 'cancelled', tone: 'plain' },
  budget_exceeded: { word: 'out of budget', tone: 'warning' },
}

/** How far a run of training is. */
export function RunState({ state }: { state: State }) {
  const { word, tone } = runStates[state]
  return <Badge tone={tone}>{word}</Badge>
}

/** The mark of what was run again and signed: the signature's first characters, leading to who ran what, and when. */
export function Seal({ signature, href }: { signature: string; href: string }) {
  return (
    <a class="seal" href={href} title="Run again by this marketplace on held-out seeds, and signed">
      <Icon name="badge-check" size={14} />
      <span>Verified</span>
      <code>{signature.slice(0, 8)}</code>
    </a>
  )
}
