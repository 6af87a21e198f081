import type { Child } from 'hono/jsx'

/** A value with its label and unit. */
export function Metric({ label, children, note }: { label: string; children?: Child; note?: Child }) {
  return (
    <div class="metric">
      <dt>{label}</dt>
      <dd>
        <span class="metric-value">{children}</span>
        {note !== undefined && <span class="metric-note">{note}</span>}
      </dd>
    </div>
  )
}

/** Metrics side by side. */
export function Metrics({ children }: { children?: Child }) {
  return <dl class="metrics">{children}</dl>
}

/** One row of a description list (`dl`). */
export function Detail({ label, children }: { label: string; children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

type ProgressBarProps = {
  /** 0 to 1; clamped. */
  share: number
  /** For screen readers. */
  label: string
  /** A threshold to mark, 0 to 1. */
  mark?: number
  tone?: 'plain' | 'warning'
}

/** How much of something is used or done. */
export function ProgressBar({ share, label, mark, tone = 'plain' }: ProgressBarProps) {
  const percent = (value: number) => `${Math.round(Math.min(1, Math.max(0, value)) * 1000) / 10}%`
  return (
    <svg class={`share-bar share-bar-${tone}`} width="100%" height="10" role="img" aria-label={label}>
      <rect class="share-bar-all" y="2" width="100%" height="6" rx="3" />
      <rect class="share-bar-part" y="2" width={percent(share)} height="6" rx="3" />
      {mark !== undefined && <line class="share-bar-mark" x1={percent(mark)} x2={percent(mark)} y1="0" y2="10" />}
    </svg>
  )
}
