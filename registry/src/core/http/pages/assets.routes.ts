import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Hono } from 'hono'
import type { Env } from '../env.ts'
import { declare } from '../route.ts'

/** Design tokens and elements of the server's own pages, light and dark. */
const stylesheet = `
@font-face {
  font-family: 'Inter Variable'; font-weight: 100 900; font-display: swap;
  src: url('/server-assets/inter.woff2') format('woff2');
}
@font-face {
  font-family: 'JetBrains Mono Variable'; font-weight: 100 800; font-display: swap;
  src: url('/server-assets/jetbrains-mono.woff2') format('woff2');
}
:root {
  color-scheme: light dark;
  --paper: light-dark(oklch(98.8% 0.003 95), oklch(18% 0.008 260));
  --raised: light-dark(oklch(96.6% 0.004 95), oklch(22% 0.009 260));
  --line: light-dark(oklch(89% 0.006 95), oklch(32% 0.01 260));
  --ink: light-dark(oklch(24% 0.01 260), oklch(93% 0.005 95));
  --dim: light-dark(oklch(47% 0.012 260), oklch(72% 0.01 260));
  --accent: light-dark(oklch(47% 0.13 152), oklch(78% 0.16 152));
  --failure: light-dark(oklch(50% 0.18 27), oklch(74% 0.14 27));
  --sans: 'Inter Variable', system-ui, sans-serif;
  --mono: 'JetBrains Mono Variable', ui-monospace, monospace;
}
* { box-sizing: border-box; }
html { font: 16px/1.6 var(--sans); color: var(--ink); background: var(--paper); scroll-padding-top: 24px; }
body { margin: 0; }
a { color: inherit; text-underline-offset: 3px; text-decoration-color: var(--line); }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
h1 { font-size: 28px; line-height: 1.25; font-weight: 640; letter-spacing: -0.015em; margin: 0 0 12px; }
h2 { font-size: 20px; line-height: 1.3; font-weight: 620; letter-spacing: -0.01em; margin: 48px 0 8px; }
h3 { font-size: 14px; font-weight: 600; margin: 24px 0 8px; }
p, ul, ol { max-width: 72ch; margin: 0 0 12px; }
code, pre, .path { font-family: var(--mono); font-size: 0.875em; font-variant-ligatures: none; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 0 0 16px;
  overflow-x: auto; font-size: 14px; line-height: 1.5; }
pre code { font-size: inherit; }
.bar { border-bottom: 1px solid var(--line); }
.bar > div, .frame { max-width: 1200px; margin: 0 auto; padding: 0 24px; }
.bar > div { display: flex; gap: 24px; align-items: baseline; padding-block: 16px; font-size: 14px; }
.bar .name { font-weight: 680; font-size: 16px; text-decoration: none; letter-spacing: -0.01em; }
.frame { padding-block: 48px 64px; }
.columns { display: grid; grid-template-columns: 208px minmax(0, 1fr); gap: 48px; }
.columns nav { font-size: 14px; position: sticky; top: 24px; align-self: start; max-height: calc(100vh - 48px); overflow-y: auto; }
.columns nav ul { list-style: none; padding: 0; margin: 0 0 16px; }
.columns nav li { padding: 2px 0; }
.columns nav a { text-decoration: none; color: var(--dim); }
.columns nav a:hover, .columns nav a[aria-current] { color: var(--ink); }
.columns nav a[aria-current] { font-weight: 600; }
.lead { color: var(--dim); }
.operation { border-top: 1px solid var(--line); padding-top: 24px; margin-top: 32px; }
.operation h2 { margin-top: 0; }
.path { font-size: 14px; overflow-wrap: anywhere; margin: 0 0 12px; }
.method { font-weight: 700; color: var(--accent); margin-right: 8px; }
.scroll { overflow-x: auto; margin: 0 0 16px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; line-height: 1.5; }
th { text-align: left; font-weight: 600; font-size: 12px; color: var(--dim); }
th, td { padding: 8px 16px 8px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
td, th { font-variant-numeric: tabular-nums; }
.required { color: var(--dim); font-size: 12px; }
.type { color: var(--dim); font-family: var(--mono); font-size: 12px; overflow-wrap: anywhere; }
.failure { color: var(--failure); }
summary { cursor: pointer; font-size: 14px; color: var(--dim); margin-bottom: 8px; }
form { max-width: 400px; display: grid; gap: 16px; }
label { display: grid; gap: 4px; font-size: 14px; font-weight: 560; }
input, button { font: inherit; border-radius: 6px; border: 1px solid var(--line); padding: 8px 12px; color: inherit; background: var(--paper); }
button { background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; cursor: pointer; }
button.quiet { background: transparent; color: inherit; border-color: var(--line); font-weight: 500; }
@media (max-width: 760px) {
  .columns { grid-template-columns: minmax(0, 1fr); gap: 24px; }
  .columns nav { position: static; max-height: none; }
  .frame { padding-block: 24px 48px; }
}
`

/** Contains the stylesheet's hash, so browsers can cache it permanently. */
export const stylesheetAddress = `/server-assets/server-${createHash('sha256').update(stylesheet).digest('hex').slice(0, 12)}.css`

const FOR_GOOD = 'public, max-age=31536000, immutable'

const fonts: Record<string, string> = {
  '/server-assets/inter.woff2': '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  '/server-assets/jetbrains-mono.woff2':
    '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
}

/** Stylesheet and fonts of the server's pages. The files are listed here; no request names a file. */
export function assetRoutes(): Hono<Env> {
  const app = new Hono<Env>()
  app.get(stylesheetAddress, declare({ access: 'anyone' }), (c) =>
    c.body(stylesheet, 200, { 'content-type': 'text/css; charset=utf-8', 'cache-control': FOR_GOOD }),
  )
  for (const [address, file] of Object.entries(fonts)) {
    app.get(address, declare({ access: 'anyone' }), async (c) => {
      const bytes = await readFile(fileURLToPath(import.meta.resolve(file)))
      return c.body(bytes, 200, { 'content-type': 'font/woff2', 'cache-control': FOR_GOOD })
    })
  }
  return app
}
