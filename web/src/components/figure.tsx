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
