import { html } from 'hono/html'
import { type Html, page } from '../../core/http/pages/page.ts'
import { prose } from '../../core/http/pages/prose.ts'
import { errorRows, methods, type OpenApiDocument } from '../openapi-document.ts'
import { operationSection, type ReferenceOperation } from './operation-section.ts'
import type { SchemaComponents } from './schema-fields.ts'

type Group = { name: string; slug: string; description: string; operations: ReferenceOperation[] }

/** The pages of the reference by their address, made once from the document that the server gives to programs. */
export function referencePages(document: OpenApiDocument): Map<string, Html> {
  const groups = groupsOf(document)
  const components = (document.components?.schemas ?? {}) as SchemaComponents
  const server = document.servers?.[0]?.url ?? ''
  const pages = new Map<string, Html>()
  const add = (address: string, title: string, body: Html) =>
    pages.set(address, page({ title: `${title} · AgentGym`, body: frame(groups, address, body) }))
  add('/docs', 'API reference', overview(document, groups))
  add('/docs/errors', 'Error codes', errorPage())
  for (const { name, slug, description, operations } of groups) {
    const sections = operations.map((operation) => operationSection(operation, components, server))
    add(`/docs/${slug}`, name, html`<h1>${name}</h1>${prose(description)}${sections}`)
  }
  return pages
}

function groupsOf(document: OpenApiDocument): Group[] {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    methods.flatMap((method): ReferenceOperation[] => {
      const operation = item[method]
      return operation === undefined ? [] : [{ ...operation, method, path } as ReferenceOperation]
    }),
  )
  return (document.tags ?? []).flatMap(({ name, description = '' }) => {
    const own = operations.filter(({ tags }) => tags?.[0] === name)
    return own.length === 0 ? [] : [{ name, slug: name.toLowerCase(), description, operations: own }]
  })
}

function frame(groups: Group[], address: string, body: Html): Html {
  const link = (to: string, text: string) =>
    html`<li><a href="${to}"${to === address ? html` aria-current="page"` : ''}>${text}</a></li>`
  const lists = groups.map(({ name, slug, operations }) => {
    const here = address === `/docs/${slug}`
    const inner = operations.map(({ operationId, summary }) => link(`#${operationId}`, summary ?? operationId))
    return html`<ul>${link(`/docs/${slug}`, name)}${here ? inner : ''}</ul>`
  })
  return html`<div class="columns">
<nav aria-label="Reference"><ul>${link('/docs', 'Overview')}${link('/docs/errors', 'Error codes')}</ul>${lists}</nav>
<article>${body}</article>
</div>`
}

function overview({ info }: OpenApiDocument, groups: Group[]): Html {
  const tables = groups.map(
    ({ name, slug, operations }) => html`<h2><a href="/docs/${slug}">${name}</a></h2>
<div class="scroll"><table>${operations.map(
      ({ method, path, operationId, summary }) => html`<tr>
<td class="path"><span class="method">${method.toUpperCase()}</span><a href="/docs/${slug}#${operationId}">${path}</a></td>
<td>${summary ?? ''}</td></tr>`,
    )}</table></div>`,
  )
  return html`<h1>API reference</h1>
<p class="lead">Version ${info.version}. For programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
${prose(info.description ?? '')}${tables}`
}

function errorPage(): Html {
  return html`<h1>Error codes</h1>
<p>A failure is <code>{ "error": { "code", "message", "hint", "data" } }</code> under the status below. Codes are stable.</p>
<div class="scroll"><table><tr><th>Status</th><th>Code</th><th>Meaning</th></tr>
${errorRows().map(
  ({ code, status, summary }) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${summary}</td></tr>`,
)}
</table></div>`
}
