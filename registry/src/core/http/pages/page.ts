import { html, raw } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'
import { stylesheetAddress } from './assets.routes.ts'

export type Html = HtmlEscapedString | Promise<HtmlEscapedString>

/** A page of the server itself: header and `body`. No scripts, no external resources. */
export function page({ title, body }: { title: string; body: Html | Html[] }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${stylesheetAddress}">
<link rel="icon" href="data:,">
</head>
<body>
<header class="bar"><div><a class="name" href="/">AgentGym</a><a href="/docs">Documentation</a></div></header>
<main class="frame">
${body}
</main>
</body>
</html>`
}

/** Renders our own descriptions: blank lines separate paragraphs, backticks mark code. Everything else is escaped. */
export function prose(text: string): Html[] {
  return text
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p>${inline(paragraph)}</p>`)
}

/** Parts between backticks are code. */
export function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}

export const nothing = raw('')
