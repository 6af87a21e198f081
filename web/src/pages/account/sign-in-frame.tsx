import type { Child } from 'hono/jsx'

/** One narrow column with one thing to do. */
export function SignInFrame({ title, lead, children }: { title: string; lead?: Child; children?: Child }) {
  return (
    <div class="sign-in">
      <h1>{title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
      {children}
    </div>
  )
}
