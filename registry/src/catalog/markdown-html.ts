import rehypeSanitize, { defaultSchema, type Options as SanitizeSchema } from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { unified } from 'unified'

/** A tree of HTML (hast), as rehype's plugins take it. */
type Root = ReturnType<ReturnType<typeof rehypeSanitize>>
type Element = Extract<Root['children'][number], { type: 'element' }>

/**
 * GitHub's list without what could load something from elsewhere: a picture tells its host who reads the page, so it
 * becomes a link to itself.
 */
const schema: SanitizeSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => !['img', 'picture', 'source'].includes(name)),
  protocols: { href: ['http', 'https', 'mailto'] },
  clobberPrefix: 'readme-',
}

/**
 * Two walls: raw HTML is no part of the tree that the parser makes (remark-rehype leaves it out), and the tree goes
 * through a list of allowed elements and attributes.
 */
const processor = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { clobberPrefix: '' })
  .use(() => linkPictures)
  .use(rehypeSanitize, schema)
  .use(() => finishElements)
  .use(rehypeStringify)
  .freeze()

/** Markdown (GitHub's) as HTML that is safe to show. Takes long, or all of the stack, for texts made to that end. */
export function markdownHtml(markdown: string): string {
  return String(processor.processSync(markdown))
}

function linkPictures(tree: Root): void {
  walk(tree, (element) => {
    if (element.tagName !== 'img') return
    const { src, alt } = element.properties
    element.tagName = 'a'
    element.properties = { href: src }
    element.children = [{ type: 'text', value: alt ? String(alt) : 'picture' }]
  })
}

const anywhere = /^(?:https?:\/\/|mailto:|#)/i
/** What holds text of its own, which may run from right to left. */
const blocks = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'li', 'blockquote', 'td', 'th'])

/** What may be wider than the page and scrolls: by the keyboard only where it can be reached. */
const wide = new Set(['pre', 'table'])

/** Links that lead nowhere (files of the package, `//host`) lose their address; search engines do not count the others. */
function finishElements(tree: Root): void {
  walk(tree, (element) => {
    const { properties, tagName } = element
    if (blocks.has(tagName)) properties.dir = 'auto'
    if (wide.has(tagName)) properties.tabIndex = 0
    // Of a task list, the only one that is allowed.
    if (tagName === 'input') properties.ariaLabel = properties.checked === true ? 'done' : 'not done'
    if (tagName !== 'a' || properties.href === undefined) return
    const href = String(properties.href)
    if (!anywhere.test(href)) delete properties.href
    else if (!href.startsWith('#')) properties.rel = ['nofollow', 'noopener', 'noreferrer']
  })
}

/** Without recursion: how deep a text nests is for its author to say. */
function walk(tree: Root, visit: (element: Element) => void): void {
  const open: (Root['children'][number] | Element['children'][number])[] = [...tree.children]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node.type !== 'element') continue
    visit(node)
    open.push(...node.children)
  }
}
