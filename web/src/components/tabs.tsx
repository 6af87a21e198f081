/** Parts of one thing, each its own page. `current` is the one that is open. */
export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: { href: string; title: string; count?: number }[]
  current: string
  label: string
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, title, count }) => (
        <a href={href} aria-current={href === current ? 'page' : undefined}>
          {title}
          {count !== undefined && <span class="tabs-count">{count}</span>}
        </a>
      ))}
    </nav>
  )
}
