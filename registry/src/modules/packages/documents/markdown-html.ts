import rehypeSanitize, { defaultSchema, type Options as SanitizeSchema } from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'

/** An HTML tree (hast) for rehype plugins. */
type Root = ReturnType<ReturnType<typeof rehypeSanitize>>
type Element = Extract<Root['children'][number], { type: 'element' }>

/** An image of the package with its URL on this server and its size in pixels, which prevents layout shifts. */
type ShownPicture = { address: string; width: number; height: number }

/** Images by path in the package. */
export type ShownPictures = Record<string, ShownPicture>

export type RenderedMarkdown = {
  html: string
  /** Paths in the package referenced by images in the text, existing or not: in order, without duplicates. */
  named: string[]
}

/**
 * GitHub's allowlist without elements that load external content: an external image would reveal the reader to its
 * host, so it becomes a link. The package's own images are handled by `showPictures` and `finishElements`.
 */
const schema: SanitizeSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['picture', 'source'].includes(name)),
  attributes: {
    ...defaultSchema.attributes,
    img: ['src', 'alt', 'width', 'height'],
    // The text after a code fence is untrusted: only the name of a language is kept.
    code: [['className', /^language-[\w+#.-]{1,40}$/]],
  },
  protocols: { href: ['http', 'https', 'mailto'] },
  clobberPrefix: 'readme-',
}

/** Data that the plugins share besides the tree. */
type Data = { pictures: ShownPictures; named: Set<string> }

/**
 * Two layers of protection: the parser's tree has no raw HTML (remark-rehype drops it), and the tree is filtered by an
 * allowlist of elements and attributes.
 */
const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { clobberPrefix: '' })
  .use(
    () =>
      (tree: Root, { data }: { data: object }) =>
        showPictures(tree, data as Data),
  )
  .use(rehypeSanitize, schema)
  .use(
    () =>
      (tree: Root, { data }: { data: object }) =>
        finishElements(tree, data as Data),
  )
  .use(rehypeStringify)
  .freeze()

/**
 * Renders GitHub-flavored Markdown as safe HTML, with the given images of the package. Malicious texts can take long,
 * or exhaust the stack.
 */
export function markdownHtml(markdown: string, pictures: ShownPictures = {}): RenderedMarkdown {
  const data: Data = { pictures, named: new Set() }
  return { html: String(processor.processSync({ value: markdown, data })), named: [...data.named] }
}

/** Shows images of the package; others become links. */
function showPictures(tree: Root, { pictures, named }: Data): void {
  walk(tree, (element) => {
    if (element.tagName !== 'img') return
    const { src, alt } = element.properties
    const path = picturePath(String(src ?? ''))
    if (path !== null) named.add(path)
    const shown = path !== null && Object.hasOwn(pictures, path) ? pictures[path] : null
    if (shown !== null) {
      element.properties = { src: shown.address, alt: String(alt ?? ''), width: shown.width, height: shown.height }
      return
    }
    element.tagName = 'a'
    element.properties = { href: src }
    element.children = [{ type: 'text', value: alt ? String(alt) : 'picture' }]
  })
}

const anywhere = /^(?:https?:\/\/|mailto:|#)/i
/** Elements with text, which may run from right to left. */
const blocks = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'li', 'blockquote', 'td', 'th'])

/** Elements that may be wider than the page. They must be focusable to scroll by keyboard. */
const wide = new Set(['pre', 'table'])

/** Removes the target of relative and protocol-relative links, and marks the others `nofollow`. */
function finishElements(tree: Root, { pictures }: Data): void {
  const ours = new Set<unknown>(Object.values(pictures).map(({ address }) => address))
  walk(tree, (element) => {
    const { properties, tagName } = element
    if (blocks.has(tagName)) properties.dir = 'auto'
    if (wide.has(tagName)) properties.tabIndex = 0
    // The checkbox of a task list, the only allowed input.
    if (tagName === 'input') properties.ariaLabel = properties.checked === true ? 'done' : 'not done'
    if (tagName === 'img') {
      if (ours.has(properties.src)) Object.assign(properties, { loading: 'lazy', decoding: 'async' })
      else element.properties = { alt: properties.alt }
      return
    }
    if (tagName !== 'a' || properties.href === undefined) return
    const href = String(properties.href)
    if (!anywhere.test(href)) delete properties.href
    else if (!href.startsWith('#')) properties.rel = ['nofollow', 'noopener', 'noreferrer']
  })
}

/** In document order. Without recursion, because the author controls the nesting depth. */
function walk(tree: Root, visit: (element: Element) => void): void {
  const open: (Root['children'][number] | Element['children'][number])[] = [...tree.children].reverse()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type !== 'element') continue
    visit(node)
    for (let index = node.children.length - 1; index >= 0; index--) open.push(node.children[index])
  }
}

const extension = /\.(?:png|jpe?g|gif|webp)$/i
/** `scheme:`, `//host` and everything else that is not relative to the package's folder. */
const elsewhere = /^(?:[a-z][a-z0-9+.-]*:|[/\\])/i

/**
 * The path in the archive of an image in the README: `./docs/a%20b.png?raw=true` is `docs/a b.png`. Null for other
 * hosts, `data:`, absolute paths, paths outside the folder, and SVG.
 */
export function picturePath(source: string): string | null {
  if (elsewhere.test(source)) return null
  const path = decoded(source.replace(/[?#].*$/s, ''))
  if (path === null || elsewhere.test(path) || /[\\\0]/.test(path) || !extension.test(path)) return null
  const segments = path.replace(/^(?:\.\/)+/, '').split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return null
  return segments.join('/')
}

/** Decoded once, like in a browser. A remaining escape is part of the name, which no file has. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
