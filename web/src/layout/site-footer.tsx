import { usePage } from './page-context.ts'
import { ThemeSwitch } from './theme-switch.tsx'

export function SiteFooter({ plain }: { plain: boolean }) {
  const { host } = usePage()
  return (
    <footer class="site-footer">
      <div class="site-footer-bar">
        <span>
          AgentGym <code>{host.version}</code>
        </span>
        {!plain && (
          <nav aria-label="More">
            <a href="/packages">All packages</a>
            <a href="/docs">API reference</a>
            <a href="/v1/openapi.json">OpenAPI</a>
            <a href="/v1/keys">Signing keys</a>
          </nav>
        )}
        <ThemeSwitch />
      </div>
    </footer>
  )
}
