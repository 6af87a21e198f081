import type { Child } from 'hono/jsx'
import { Command } from './controls.tsx'
import { Icon, type IconName } from './icon.tsx'

type NoticeKind = 'info' | 'success' | 'warning' | 'failure'
const signs: Record<NoticeKind, IconName> = {
  info: 'info',
  success: 'check',
  warning: 'triangle-alert',
  failure: 'circle-alert',
}

/** A message that must not be missed. */
export function Notice({ kind, children }: { kind: NoticeKind; children?: Child }) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'failure' ? 'alert' : 'status'}>
      <Icon name={signs[kind]} />
      <div>{children}</div>
    </div>
  )
}

/** What will appear here, and the command that makes it appear. */
export function EmptyState({ title, children, command }: { title: string; children?: Child; command?: string }) {
  return (
    <div class="empty-state">
      <p class="empty-state-title">{title}</p>
      {children !== undefined && <div class="empty-state-text">{children}</div>}
      {command !== undefined && <Command text={command} />}
    </div>
  )
}
