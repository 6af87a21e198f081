import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'
import type { Doc, DocEntry, DocGroup, DocSection, SiteDocs } from './site-docs.ts'

/** An HTML tree (hast). */
type Root = Extract<Parameters<typeof toHtml.stringify>[0], { type: 'root' }>
type Node = Root['children'][number]
type Element = Extract<Node, { type: 'element' }>

/** The index: its headings and lists are the order of the site's documentation. */
const index = 'docs/README.md'
/** The part of the index about files that the site does not show. */
const unshown = 'For contributors'

/** READMEs with a page on the site. Documents in `docs/` have the slug of their file. */
const readmes: Record<string, string> = {
  'sdk/scenario/README.md': 'scenario-interface',
  'sdk/agent/README.md': 'agent-library',
  'sdk/python/README.md': 'python-library',
  'plugins/README.md': 'built-in-scenarios',
  'registry/README.md': 'server-settings',
}

const toTree = unified().use(remarkParse).use(remarkGfm).use(remarkRehype)
const toHtml = unified().use(rehypeStringify)

/** Renders the documents that the index of the repository at `root` lists. Throws if it lists one that is missing. */
export function renderDocs(root: string): SiteDocs {
  const read = (path: string) => toTree.runSync(toTree.parse(readFileSync(join(root, path), 'utf8'))) as Root
  const groups = groupsOf(read(index))
  const pages = new Map(groups.flatMap(({ entries }) => entries.map(({ path, slug }) => [path, slug] as const)))
  const docs = groups.flatMap(({ entries }) =>
    entries.map(({ path, slug, title }) => renderDoc(read(path), { path, slug, title, pages })),
  )
  return {
    groups: groups.map(({ title, entries }) => ({
      title,
      entries: entries.map(({ slug, title, summary }) => ({ slug, title, summary })),
    })),
    bySlug: Object.fromEntries(docs.map((doc) => [doc.slug, doc])),
  }
}

type ListedDoc = DocEntry & { path: string }

function groupsOf(tree: Root): (Omit<DocGroup, 'entries'> & { entries: ListedDoc[] })[] {
  const groups: (Omit<DocGroup, 'entries'> & { entries: ListedDoc[] })[] = []
  for (const node of elements(tree.children)) {
    if (node.tagName === 'h2') groups.push({ title: textOf(node), entries: [] })
    if (node.tagName === 'ul') groups.at(-1)?.entries.push(...elements(node.children).flatMap(entryOf))
  }
  return groups.filter(({ title }) => title !== unshown)
}

/** `- [Title](path): summary`. */
function entryOf(item: Element): ListedDoc[] {
  const [link] = elements(item.children).filter(({ tagName }) => tagName === 'a')
  if (link === undefined) return []
  const path = posix.join(posix.dirname(index), String(link.properties.href))
  const title = textOf(link)
  const summary = textOf(item).slice(title.length).replace(/^:\s*/, '').replaceAll('\n', ' ')
  return [{ path, slug: readmes[path] ?? posix.basename(path, '.md'), title, summary: capitalized(summary) }]
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

type Rendering = { path: string; slug: string; title: string; pages: Map<string, string> }

function renderDoc(tree: Root, { path, slug, title, pages }: Rendering): Doc {
  // The page has the title of the index.
  tree.children = tree.children.filter((node) => node.type !== 'element' || node.tagName !== 'h1')
  nameHeadings(tree)
  visit(tree, (element) => {
    if (element.tagName === 'pre' || element.tagName === 'table') element.properties.tabIndex = 0
    if (element.tagName === 'a') element.properties.href = addressOf(String(element.properties.href), path, pages)
    // Pictures of the repository are not part of the site.
    if (element.tagName === 'img')
      Object.assign(element, {
        tagName: 'em',
        children: [{ type: 'text', value: String(element.properties.alt ?? '') }],
        properties: {},
      })
  })
  const [paragraph] = elements(tree.children).filter(({ tagName }) => tagName === 'p')
  const description = paragraph === undefined ? '' : textOf(paragraph).replaceAll('\n', ' ')
  return { slug, title, description, html: toHtml.stringify(tree), sections: sectionsOf(tree) }
}

/** Where a link of a document leads on the site; undefined for files of the repository without a page. */
function addressOf(target: string, from: string, pages: Map<string, string>): string | undefined {
  if (/^(https?:|mailto:|#)/.test(target)) return target
  const [file, anchor] = target.split('#')
  const slug = pages.get(posix.join(posix.dirname(from), file))
  return slug === undefined ? undefined : `/docs/${slug}${anchor === undefined ? '' : `#${anchor}`}`
}

/** IDs as GitHub makes them, so that links to headings work in both places. */
function nameHeadings(tree: Root): void {
  const used = new Map<string, number>()
  visit(tree, (element) => {
    if (!/^h[2-6]$/.test(element.tagName)) return
    const base = textOf(element)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
    const times = used.get(base) ?? 0
    used.set(base, times + 1)
    element.properties.id = times === 0 ? base : `${base}-${times}`
  })
}

function sectionsOf(tree: Root): DocSection[] {
  const sections: DocSection[] = [{ anchor: null, heading: '', text: '' }]
  for (const node of elements(tree.children)) {
    if (/^h[2-6]$/.test(node.tagName))
      sections.push({ anchor: String(node.properties.id), heading: textOf(node), text: '' })
    else sections[sections.length - 1].text += ` ${textOf(node)}`
  }
  return sections.map((section) => ({ ...section, text: section.text.replaceAll(/\s+/g, ' ').trim() }))
}

function elements(nodes: Node[] | Element['children']): Element[] {
  return [...nodes].filter((node) => node.type === 'element')
}

function textOf(node: Node): string {
  if (node.type === 'text') return node.value
  return node.type === 'element' ? node.children.map(textOf).join('') : ''
}

function visit(tree: Root | Element, act: (element: Element) => void): void {
  for (const element of elements(tree.children)) {
    act(element)
    visit(element, act)
  }
}
