import type { Child } from 'hono/jsx'
import { Tabs } from '../../components/controls.tsx'
import { Notice } from '../../components/messages.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf, type Role } from '../../session/accounts.ts'

/** `needs` is the lowest role that sees the page for an organization. */
const tabs: { path: string; title: string; needs: Role }[] = [
  { path: '/orders', title: 'Purchases', needs: 'member' },
  { path: '/licences', title: 'Licenses', needs: 'viewer' },
  { path: '/balance', title: 'Balance', needs: 'member' },
  { path: '/settings/spending', title: 'Spending limits', needs: 'member' },
  { path: '/sales', title: 'Sales', needs: 'admin' },
  { path: '/earnings', title: 'Earnings', needs: 'admin' },
]

type MarketFrameProps = {
  title: string
  lead?: Child
  path: string
  /** The account it is about; empty for the visitor's own. */
  account: string
  /** The role needed to act for an organization here. */
  needs: Role
  /** An empty account means all of the visitor's accounts. */
  all?: boolean
  children?: Child
}

/** Frame of every page about an account's money. */
export function MarketFrame({ title, lead, path, account, needs, all, children }: MarketFrameProps) {
  const { account: visitor } = usePage()
  // Tabs that the visitor may not open for this account link to the visitor's own account.
  const seen = (role: Role) => (visitor !== null && accountsOf(visitor, role).includes(account) ? account : '')
  return (
    <div class="market">
      <header class="market-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p class="lead">{lead}</p>}
        </div>
      </header>
      <Tabs
        label="Buying and selling"
        current={accountAddress(path, account)}
        tabs={tabs.map((tab) => ({
          href: accountAddress(tab.path, tab.path === path ? account : seen(tab.needs)),
          title: tab.title,
        }))}
      />
      <AccountChoice path={path} account={account} needs={needs} all={all} />
      <TestMoney />
      {children}
    </div>
  )
}

/** A notice next to amounts, if payments use test money. */
export function TestMoney() {
  const { host } = usePage()
  if (!host.testMoney) return null
  return (
    <Notice kind="warning">
      All amounts are test money, which is worth nothing. This server takes no real payments.
    </Notice>
  )
}

type AccountChoiceProps = {
  path: string
  account: string
  needs: Role
  label?: string
  all?: boolean
  /** Other query parameters. */
  query?: Record<string, string>
}

/** Chooses the account; nothing for a visitor without organizations. */
export function AccountChoice({
  path,
  account,
  needs,
  label = 'Account',
  all = false,
  query = {},
}: AccountChoiceProps) {
  const { account: visitor } = usePage()
  if (visitor === null) return null
  const [own, ...others] = accountsOf(visitor, needs)
  if (others.length === 0) return null
  const unnamed = all ? 'All accounts' : own
  const named = all ? [own, ...others] : others
  return (
    <nav class="account-choice" aria-label="Account">
      <span class="dim">{label}</span>
      {['', ...named].map((one) => (
        <a
          href={accountAddress(path, one, query)}
          aria-current={one === account || (one === '' && account === own && !all) ? 'true' : undefined}
        >
          {one === '' ? unnamed : one}
        </a>
      ))}
    </nav>
  )
}

/** Address of a page for an account. */
export function accountAddress(path: string, account: string, query: Record<string, string> = {}): string {
  const entries = Object.entries({ ...(account === '' ? {} : { account }), ...query })
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`
}

type OlderLinkProps = { path: string; account: string; cursor: string | null; query?: Record<string, string> }

/** To the next page of a list, newest first. */
export function OlderLink({ path, account, cursor, query = {} }: OlderLinkProps) {
  if (cursor === null) return null
  return (
    <p class="older">
      <a href={accountAddress(path, account, { ...query, cursor })} rel="next">
        Older
      </a>
    </p>
  )
}

/**
 * Links to a page of the payment provider. Not a redirect, because our content security policy does not allow forms to
 * lead to other hosts.
 */
export function ProviderLink({ href, children }: { href: string; children?: Child }) {
  return (
    <a class="button button-primary" href={href} rel="noreferrer">
      {children}
    </a>
  )
}
