import type { Child } from 'hono/jsx'

/** A number with its unit and what it was measured against. */
export function Figure({ label, children, note }: { label: string; children?: Child; note?: Child }) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>
        <span class="figure-value">{children}</span>
        {note !== undefined && <span class="figure-note">{note}</span>}
      </dd>
    </div>
  )
}

/** Figures side by side. */
export function Figures({ children }: { children?: Child }) {
  return <dl class="figures">{children}</dl>
}

/** One line of a list of facts (`dl`). */
export function Fact({ label, children }: { label: string; children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type ShareBarProps = {
  /** 0 to 1; more is drawn as all. */
  share: number
  /** What it is a share of, for whoever has it read to them. */
  label: string
  /** A place on it that matters, 0 to 1. */
  mark?: number
  tone?: 'plain' | 'warning'
}

/** How much of something is used or done. */
export function ShareBar({ share, label, mark, tone = 'plain' }: ShareBarProps) {
  const percent = (value: number) => `${Math.round(Math.min(1, Math.max(0, value)) * 1000) / 10}%`
  return (
    <svg class={`share-bar share-bar-${tone}`} width="100%" height="10" role="img" aria-label={label}>
      <rect class="share-bar-all" y="2" width="100%" height="6" rx="3" />
      <rect class="share-bar-part" y="2" width={percent(share)} height="6" rx="3" />
      {mark !== undefined && <line class="share-bar-mark" x1={percent(mark)} x2={percent(mark)} y1="0" y2="10" />}
    </svg>
  )
}
