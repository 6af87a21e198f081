import type { Child } from 'hono/jsx'
import { Command } from './command.tsx'

/** What will stand here, and the command that puts it there. */
export function EmptyState({ title, children, command }: { title: string; children?: Child; command?: string }) {
  return (
    <div class="empty-state">
      <p class="empty-state-title">{title}</p>
      {children !== undefined && <div class="empty-state-text">{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  )
}
