import rehypeSanitize, { defaultSchema, type Options as SanitizeSchema } from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'

/** A tree of HTML (hast), as rehype's plugins take it. */
type Root = ReturnType<ReturnType<typeof rehypeSanitize>>
type Element = Extract<Root['children'][number], { type: 'element' }>

/** A picture of the package as the page loads it from us; its size in pixels, so that nothing moves when it comes. */
type ShownPicture = { address: string; width: number; height: number }

/** By their paths in the package. */
export type ShownPictures = Record<string, ShownPicture>

export type RenderedMarkdown = {
  html: string
  /** Paths in the package that pictures of the text name, whether or not there is something: in order, each once. */
  named: string[]
}

/**
 * GitHub's allowlist without elements that load external content: an image would reveal the reader to its host, so it
 * becomes a link to itself. The package's own images have passed `showPictures`, and pass `finishElements`.
 */
const schema: SanitizeSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['picture', 'source'].includes(name)),
  attributes: {
    ...defaultSchema.attributes,
    img: ['src', 'alt', 'width', 'height'],
    // The text after a fence comes from the author: only the name of a language passes.
    code: [['className', /^language-[\w+#.-]{1,40}$/]],
  },
  protocols: { href: ['http', 'https', 'mailto'] },
  clobberPrefix: 'readme-',
}

/** What the plugins find beside the tree. */
type Data = { pictures: ShownPictures; named: Set<string> }

/**
 * Two walls: raw HTML is no part of the tree that the parser makes (remark-rehype leaves it out), and the tree goes
 * through a list of allowed elements and attributes.
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
 * Renders Markdown (GitHub's) as HTML that is safe to show, with those images of the package. Malicious texts can take
 * long, or exhaust the stack.
 */
export function markdownHtml(markdown: string, pictures: ShownPictures = {}): RenderedMarkdown {
  const data: Data = { pictures, named: new Set() }
  return { html: String(processor.processSync({ value: markdown, data })), named: [...data.named] }
}

/** Pictures of the package are shown; others become links to themselves. */
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
/** Elements with text of their own, which may run from right to left. */
const blocks = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'li', 'blockquote', 'td', 'th'])

/** Elements that may be wider than the page and scroll: the keyboard can scroll them only if they can be focused. */
const wide = new Set(['pre', 'table'])

/** Links that lead nowhere (files of the package, `//host`) lose their address; search engines do not count the others. */
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

/** Without recursion: how deep a text nests is for its author to say. In the order of the text. */
function walk(tree: Root, visit: (element: Element) => void): void {
  const open: (Root['children'][number] | Element['children'][number])[] = [...tree.children].reverse()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type !== 'element') continue
    visit(node)
    for (let index = node.children.length - 1; index >= 0; index--) open.push(node.children[index])
  }
}

const extension = /\.(?:png|jpe?g|gif|webp)$/i
/** `scheme:`, `//host` and whatever else does not begin in the package's folder. */
const elsewhere = /^(?:[a-z][a-z0-9+.-]*:|[/\\])/i

/**
 * The package's file that an image in its README names, by its path in the archive: `./docs/a%20b.png?raw=true` is
 * `docs/a b.png`. Null if it names none: another host, `data:`, an absolute path, one that leaves the folder, SVG.
 */
export function picturePath(source: string): string | null {
  if (elsewhere.test(source)) return null
  const path = decoded(source.replace(/[?#].*$/s, ''))
  if (path === null || elsewhere.test(path) || /[\\\0]/.test(path) || !extension.test(path)) return null
  const segments = path.replace(/^(?:\.\/)+/, '').split('/')
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return null
  return segments.join('/')
}

/** Decoded once, as a browser would: a remaining escape is part of the name, and no file has one. */
function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
