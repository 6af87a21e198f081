import { raw } from 'hono/html'
import { route } from '../../app/route.ts'
import type { Html, Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { type Doc, type DocGroup, type DocHit, searchDocs } from '../../docs/site-docs.ts'
import { usePage } from '../../layout/page-context.ts'
import { notFound } from '../failures.tsx'
import { fitHeadings } from '../package/prose.tsx'

export const docsRoutes = [
  route('get', '/docs', { access: 'public' }, (visit) =>
    visit.page(<DocsIndex groups={visit.docs().groups} />, {
      title: 'Documentation',
      description: 'Guides and reference: install AgentGym, write scenarios, train and verify agents, run a server.',
    }),
  ),

  route('get', '/docs/search', { access: 'public' }, (visit) => {
    const q = visit.query.get('q')?.trim().slice(0, 200) ?? ''
    const docs = visit.docs()
    return visit.page(<SearchPage groups={docs.groups} q={q} hits={searchDocs(docs, q)} />, {
      title: q === '' ? 'Search the documentation' : `“${q}” in the documentation`,
      hidden: true,
    })
  }),

  route('get', '/docs/:slug', { access: 'public' }, (visit) => {
    const { groups, bySlug } = visit.docs()
    const { slug } = visit.params
    if (!Object.hasOwn(bySlug, slug)) return notFound(visit)
    const doc = bySlug[slug]
    return visit.page(<DocPage groups={groups} doc={ownDoc(doc, visit)} policy={policyOf(visit, slug)} />, {
      title: doc.title,
      description: doc.description,
    })
  }),
]

const exampleServer = 'https://gym.example.com'
const examplePackage = `${exampleServer}/cli/agentgym.tgz`
const exampleInstall = /<pre[^>]*><code[^>]*>[^<]*\/cli\/agentgym\.tgz[^<]*<\/code><\/pre>/g

/** With this server's address where readers install the command and log in; without its package if it has none. */
function ownDoc(doc: Doc, { host: { publicUrl, commandUrl } }: Visit): Doc {
  const html = commandUrl
    ? doc.html.replaceAll(examplePackage, commandUrl)
    : doc.html.replaceAll(
        exampleInstall,
        doc.slug === 'install' ? '<p>This server does not offer the package.</p>' : '',
      )
  const logInAt = (address: string) => `AGENTGYM_SERVER=${address} agentgym login`
  return { ...doc, html: html.replaceAll(logInAt(exampleServer), logInAt(publicUrl)) }
}

/** Shown instead of a template. `own`: the operator's text as HTML; null if there is none. */
type Policy = { own: string | null }

/** Null for documents that are no policies. */
function policyOf({ host: { policies } }: Visit, slug: string): Policy | null {
  return slug === 'terms' || slug === 'privacy' || slug === 'acceptable-use' ? { own: policies[slug] } : null
}

function DocsIndex({ groups }: { groups: DocGroup[] }) {
  return (
    <div class="docs-index">
      <header class="docs-head">
        <h1>Documentation</h1>
        <DocsSearch />
      </header>
      <div class="docs-groups">
        {groups.map(({ title, entries }) => (
          <section>
            <h2 id={title.toLowerCase().replaceAll(' ', '-')}>{title}</h2>
            <ul>
              {entries.map(({ slug, title, summary }) => (
                <li>
                  <a href={`/docs/${slug}`}>{title}</a>
                  <p>{summary}</p>
                </li>
              ))}
              {title === 'API' && (
                <li>
                  <a href="/docs/api">REST API</a>
                  <p>Every endpoint, its parameters and responses</p>
                </li>
              )}
            </ul>
          </section>
        ))}
      </div>
    </div>
  )
}

function DocPage({ groups, doc, policy }: { groups: DocGroup[]; doc: Doc; policy: Policy | null }) {
  const own = policy?.own ?? null
  return (
    <DocsFrame groups={groups}>
      <h1>{doc.title}</h1>
      {policy !== null && own === null && (
        <Notice kind="info">
          This is a template. The operator of this server has not published a text of its own.
        </Notice>
      )}
      <div class="prose">{raw(own === null ? doc.html : fitHeadings(own, doc.title, 1))}</div>
    </DocsFrame>
  )
}

function SearchPage({ groups, q, hits }: { groups: DocGroup[]; q: string; hits: DocHit[] }) {
  return (
    <DocsFrame groups={groups}>
      <h1>Search the documentation</h1>
      <DocsSearch q={q} />
      {hits.length > 0 && (
        <ol class="docs-hits">
          {hits.map(({ slug, title, anchor, heading, excerpt }) => (
            <li>
              <h2>
                <a href={`/docs/${slug}${anchor === null ? '' : `#${anchor}`}`}>
                  {title}
                  {heading !== '' && ` › ${heading}`}
                </a>
              </h2>
              <p>{excerpt}</p>
            </li>
          ))}
        </ol>
      )}
      {hits.length === 0 && q !== '' && (
        <EmptyState title="No results">
          <p>Try fewer or shorter words.</p>
          <Button href="/docs">All documents</Button>
        </EmptyState>
      )}
    </DocsFrame>
  )
}

function DocsSearch({ q = '' }: { q?: string }) {
  return (
    <search class="docs-search">
      <form action="/docs/search" method="get">
        <label class="visually-hidden" for="docs-search">
          Search the documentation
        </label>
        <input
          id="docs-search"
          name="q"
          type="search"
          value={q}
          placeholder="Search the documentation"
          maxlength={200}
          autocomplete="off"
        />
        <Button>Search</Button>
      </form>
    </search>
  )
}

/** Contents on the left, collapsed on phones; the document on the right. */
function DocsFrame({ groups, children }: { groups: DocGroup[]; children?: Html }) {
  const { path } = usePage()
  return (
    <div class="docs">
      <details class="docs-contents">
        <summary>Contents</summary>
        <nav aria-label="Documentation">
          <p>
            <a href="/docs">Documentation</a>
          </p>
          {groups.map(({ title, entries }) => (
            <>
              <p class="docs-group">{title}</p>
              <ul>
                {entries.map(({ slug, title }) => (
                  <li>
                    <a href={`/docs/${slug}`} aria-current={path === `/docs/${slug}` ? 'page' : undefined}>
                      {title}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          ))}
        </nav>
      </details>
      <article class="docs-text">{children}</article>
    </div>
  )
}
