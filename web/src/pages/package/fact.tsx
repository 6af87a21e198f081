import type { Child } from 'hono/jsx'

/** A line of a list of facts: what it is, and beside it how much or which. */
export function Fact({ label, children }: { label: string; children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
