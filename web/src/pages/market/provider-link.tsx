import type { Child } from 'hono/jsx'

/**
 * Leads to a page of the payment provider. A link and no redirect: the pages' policy lets no form of ours lead to another
 * host, so after a form a page stands between.
 */
export function ProviderLink({ href, children }: { href: string; children?: Child }) {
  return (
    <a class="button button-primary" href={href} rel="noreferrer">
      {children}
    </a>
  )
}
