import assert from 'node:assert/strict'
import type { Child } from 'hono/jsx'
import { type PageContext, type PageOptions, PageProvider, usePage } from './page-context.ts'
import { SiteHeader } from './site-header.tsx'
import { ThemeSwitch } from './theme.tsx'

/** The HTML of a whole page. Components are synchronous: their data is loaded first. */
export function renderPage(body: Child, options: PageOptions, context: PageContext): string {
  const { title, description, frame = 'full', hidden = false, canonical = context.path, feed } = options
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
  const { assets, theme, islands, host } = context
  const document = (
    <html lang="en" data-theme={theme === 'system' ? undefined : theme}>
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · AgentGym`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === 'system' ? 'light dark' : theme} />
        {description !== undefined && <meta name="description" content={description.slice(0, 200)} />}
        {hidden ? (
          <meta name="robots" content="noindex" />
        ) : (
          <link rel="canonical" href={`${host.publicUrl}${canonical}`} />
        )}
        <LinkPreview options={options} host={host} />
        {feed !== undefined && <link rel="alternate" type="application/atom+xml" href={feed} />}
        {assets.preload.map((font) => (
          <link rel="preload" href={font} as="font" type="font/woff2" crossorigin="anonymous" />
        ))}
        <link rel="stylesheet" href={assets.stylesheet} />
        <link rel="icon" href="/favicon.ico" sizes="32x32" />
        <link rel="icon" href={assets.icon} type="image/svg+xml" />
        <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
        <link rel="manifest" href="/site.webmanifest" />
        {[...islands].map((name) => (
          <script type="module" src={assets.island(name)} />
        ))}
      </head>
      <body dangerouslySetInnerHTML={{ __html: String(drawn) }} />
    </html>
  )
  return `<!doctype html>${String(document)}`
}

/** What other sites show for a link to the page: Open Graph, which Twitter reads as well. */
function LinkPreview({ options, host }: { options: PageOptions; host: PageContext['host'] }) {
  const { title, description, preview } = options
  const picture = host.drawPreview !== undefined && preview !== undefined && previewAddress(preview)
  return (
    <>
      <meta property="og:site_name" content="AgentGym" />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      {description !== undefined && <meta property="og:description" content={description.slice(0, 200)} />}
      {picture && (
        <>
          <meta property="og:image" content={`${host.publicUrl}${picture}`} />
          <meta property="og:image:type" content="image/png" />
          <meta property="og:image:width" content="1200" />
          <meta property="og:image:height" content="630" />
          <meta property="og:image:alt" content={`A picture of ${title}`} />
        </>
      )}
      <meta name="twitter:card" content={picture ? 'summary_large_image' : 'summary'} />
    </>
  )
}

function previewAddress({ name, version }: NonNullable<PageOptions['preview']>): string {
  return `/pictures/${name}/${encodeURIComponent(version)}/preview.png`
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
            <a href="/docs/pricing">Pricing</a>
            <a href="/docs#policies">Terms and policies</a>
          </nav>
        )}
        <ThemeSwitch />
      </div>
    </footer>
  )
}
