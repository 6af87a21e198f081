import { Form } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { useIsland, usePage } from './page-context.ts'

const links = [
  { href: '/packages?kind=scenario', title: 'Scenarios' },
  { href: '/packages?kind=agent', title: 'Agents' },
  { href: '/docs', title: 'Docs' },
]

/** The bar above every page; `plain` on pages with a single task. */
export function SiteHeader({ plain }: { plain: boolean }) {
  const { host } = usePage()
  return (
    <header class="site-header">
      <div class="site-header-bar">
        <a class="site-name" href="/">
          <Mark />
          AgentGym
        </a>
        {host.testMoney && (
          <span
            class="badge badge-warning"
            title="Prices and balances on this server are in test money, which is worth nothing."
          >
            Test money
          </span>
        )}
        {!plain && (
          <>
            <nav class="site-nav" aria-label="Marketplace">
              <Links />
            </nav>
            <SearchBox />
          </>
        )}
        <div class="site-header-end">
          {!plain && <NotificationBell />}
          {!plain && <AccountMenu />}
        </div>
      </div>
    </header>
  )
}

function Links() {
  const { address } = usePage()
  return (
    <>
      {links.map(({ href, title }) => (
        <a href={href} aria-current={address.startsWith(href) ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </>
  )
}

/** The logo: a learning curve that reaches its target. */
function Mark() {
  return (
    <svg class="site-mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path class="site-mark-target" d="M2 5.5h20" />
      <path class="site-mark-curve" d="M2 20c5.5 0 4.5-8 9.5-8 4.5 0 4-6.5 10.5-6.5" />
    </svg>
  )
}

/** Links to the notifications while some are unread; the menu does always. */
function NotificationBell() {
  const { account } = usePage()
  const unread = account?.unread_notifications ?? 0
  if (unread === 0) return null
  return (
    <a class="bell" href="/notifications" aria-label={`Notifications, ${unread} unread`} title="Notifications">
      <Icon name="bell" />
      <span class="bell-count">{unread > 99 ? '99+' : unread}</span>
    </a>
  )
}

function AccountMenu() {
  const { account, address } = usePage()
  if (account === null) {
    const next = address === '/' || address.startsWith('/login') || address.startsWith('/signup') ? '' : address
    return (
      <div class="account-links">
        <a href={next === '' ? '/login' : `/login?next=${encodeURIComponent(next)}`}>Log in</a>
        <a class="button button-primary button-small" href="/signup">
          Sign up
        </a>
      </div>
    )
  }
  return (
    <details class="menu">
      <summary>
        <Icon name="user" />
        <span class="menu-name">{account.username}</span>
        <Icon name="chevron-down" size={14} />
      </summary>
      <div class="menu-list">
        <a href="/dashboard">Dashboard</a>
        <a href="/runs">Runs</a>
        <a href="/notifications">Notifications</a>
        <a href="/orders">Purchases</a>
        <a href="/balance">Balance</a>
        <a href="/earnings">Earnings</a>
        <a href={`/@${account.username}`}>Profile</a>
        <a href="/settings/account">Settings</a>
        {account.operator && <a href="/operator">Operator</a>}
        <Form action="/logout" look="inline">
          <button class="menu-action" type="submit">
            Log out
          </button>
        </Form>
      </div>
    </details>
  )
}

/** Search on every page, with suggestions where JavaScript runs. */
function SearchBox() {
  useIsland('suggest')
  useIsland('palette')
  const { address, path } = usePage()
  const q = path === '/packages' ? (new URL(address, 'http://site').searchParams.get('q') ?? '') : ''
  return (
    <search class="search-box" data-suggest>
      <form action="/packages" method="get">
        <label class="visually-hidden" for="search">
          Search scenarios and agents
        </label>
        <Icon name="search" />
        <input
          id="search"
          name="q"
          type="search"
          value={q}
          placeholder="Search scenarios and agents"
          autocomplete="off"
          spellcheck={false}
          maxlength={200}
          aria-keyshortcuts="/"
        />
      </form>
      <div class="suggestions" id="suggestions" role="listbox" aria-label="Suggestions" hidden />
    </search>
  )
}
