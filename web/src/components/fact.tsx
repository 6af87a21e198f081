import type { Child } from 'hono/jsx'

/** One line of a list of facts (`dl`). */
export function Fact({ label, children }: { label: string; children?: Child }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
