import type { RunState as State } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import { Icon } from './icon.tsx'

/** A kind or state in one word; the color only repeats it. */
export function Badge({ children, tone = 'plain' }: { children?: Child; tone?: 'plain' | 'good' | 'warning' | 'bad' }) {
  return <span class={`badge badge-${tone}`}>{children}</span>
}

const runStates: Record<State, { word: string; tone: 'plain' | 'good' | 'warning' | 'bad' }> = {
  queued: { word: 'queued', tone: 'plain' },
  running: { word: 'running', tone: 'warning' },
  completed: { word: 'completed', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
  cancelled: { word: 'canceled', tone: 'plain' },
  paused: { word: 'paused', tone: 'plain' },
  budget_exceeded: { word: 'out of budget', tone: 'warning' },
}

/** State of a training run. */
export function RunState({ state }: { state: State }) {
  const { word, tone } = runStates[state]
  return <Badge tone={tone}>{word}</Badge>
}

/** Links to the verification; shows the first characters of its signature. */
export function Seal({ signature, href }: { signature: string; href: string }) {
  return (
    <a class="seal" href={href} title="Re-run by this marketplace on held-out seeds, and signed">
      <Icon name="badge-check" size={14} />
      <span>Verified</span>
      <code>{signature.slice(0, 8)}</code>
    </a>
  )
}
