import type { Child } from 'hono/jsx'

/** One word about a thing: its kind, its state. `tone` never says more than the word does. */
export function Badge({ children, tone = 'plain' }: { children?: Child; tone?: 'plain' | 'good' | 'warning' | 'bad' }) {
  return <span class={`badge badge-${tone}`}>{children}</span>
}
