import assert from 'node:assert/strict'
import type { Child } from 'hono/jsx'
import { type PageContext, type PageOptions, PageProvider, usePage } from './page-context.ts'
import { SiteHeader } from './site-header.tsx'
import { ThemeSwitch } from './theme.tsx'

/** The HTML of a whole page. Components are synchronous: their data is loaded first. */
export function renderPage(body: Child, options: PageOptions, context: PageContext): string {
  const { title, description, frame = 'full', hidden = false } = options
  // Renders the body first, because its components register the scripts that the head loads.
  const drawn = (
    <PageProvider value={context}>
      <a class="skip-link" href="#content">
        Skip to content
      </a>
      <SiteHeader plain={frame === 'plain'} />
      <main id="content" class={frame === 'plain' ? 'content content-plain' : 'content'}>
        {body}
      </main>
      <SiteFooter plain={frame === 'plain'} />
    </PageProvider>
  ).toString()
  assert(typeof drawn === 'string' || !('then' in Object(drawn)), 'a component was asynchronous')
  const { assets, theme, islands } = context
  const document = (
    <html lang="en" data-theme={theme === 'system' ? undefined : theme}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · AgentGym`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
        {description !== undefined && <meta name="description" content={description.slice(0, 200)} />}
        {hidden && <meta name="robots" content="noindex" />}
        {assets.preload.map((font) => (
          <link rel="preload" href={font} as="font" type="font/woff2" crossorigin="anonymous" />
        ))}
        <link rel="stylesheet" href={assets.stylesheet} />
        <link rel="icon" href={assets.icon} type="image/svg+xml" />
        {[...islands].map((name) => (
          <script type="module" src={assets.island(name)} />
        ))}
      </head>
      <body dangerouslySetInnerHTML={{ __html: String(drawn) }} />
    </html>
  )
  return `<!doctype html>${String(document)}`
}

function SiteFooter({ plain }: { plain: boolean }) {
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
