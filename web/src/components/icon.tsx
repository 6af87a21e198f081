import { raw } from 'hono/html'
import { jsx } from 'hono/jsx'
import type { HtmlEscapedString } from 'hono/utils/html'
import badgeCheck from 'lucide/dist/esm/icons/badge-check.mjs'
import bell from 'lucide/dist/esm/icons/bell.mjs'
import bot from 'lucide/dist/esm/icons/bot.mjs'
import box from 'lucide/dist/esm/icons/box.mjs'
import check from 'lucide/dist/esm/icons/check.mjs'
import chevronDown from 'lucide/dist/esm/icons/chevron-down.mjs'
import chevronRight from 'lucide/dist/esm/icons/chevron-right.mjs'
import circleAlert from 'lucide/dist/esm/icons/circle-alert.mjs'
import copy from 'lucide/dist/esm/icons/copy.mjs'
import download from 'lucide/dist/esm/icons/download.mjs'
import info from 'lucide/dist/esm/icons/info.mjs'
import filter from 'lucide/dist/esm/icons/list-filter.mjs'
import lock from 'lucide/dist/esm/icons/lock.mjs'
import menu from 'lucide/dist/esm/icons/menu.mjs'
import monitor from 'lucide/dist/esm/icons/monitor.mjs'
import moon from 'lucide/dist/esm/icons/moon.mjs'
import pause from 'lucide/dist/esm/icons/pause.mjs'
import play from 'lucide/dist/esm/icons/play.mjs'
import search from 'lucide/dist/esm/icons/search.mjs'
import star from 'lucide/dist/esm/icons/star.mjs'
import sun from 'lucide/dist/esm/icons/sun.mjs'
import triangleAlert from 'lucide/dist/esm/icons/triangle-alert.mjs'
import user from 'lucide/dist/esm/icons/user.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'

const icons = {
  'badge-check': badgeCheck,
  bell,
  bot,
  box,
  check,
  'chevron-down': chevronDown,
  'chevron-right': chevronRight,
  'circle-alert': circleAlert,
  copy,
  download,
  filter,
  info,
  lock,
  menu,
  monitor,
  moon,
  pause,
  play,
  search,
  star,
  sun,
  'triangle-alert': triangleAlert,
  user,
  x,
}
export type IconName = keyof typeof icons

type IconProps = { name: IconName; size?: number; label?: string }

/** An icon from Lucide. Hidden from screen readers next to text; alone it needs a `label`. */
export function Icon({ name, size = 16, label }: IconProps) {
  const key = `${name} ${size} ${label ?? ''}`
  const known = drawn.get(key)
  if (known !== undefined) return known
  const icon = raw(String(<Drawing name={name} size={size} label={label} />))
  drawn.set(key, icon)
  return icon
}

/** Cached, because a page has dozens of the same few icons. */
const drawn = new Map<string, HtmlEscapedString>()

function Drawing({ name, size, label }: IconProps) {
  return (
    <svg
      class="icon"
      viewBox="0 0 24 24"
      width={size}
      height={size}
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined ? 'true' : undefined}
    >
      {icons[name].map(([element, attributes]) => jsx(element, attributes))}
    </svg>
  )
}
