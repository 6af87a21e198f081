import type { SvgElement } from './svg.ts'

/** The namespace in which `create` makes elements. */
export const svgNamespace = 'http://www.w3.org/2000/svg'

// What is used of a browser's elements: this package has no types of them.
interface NodeLike<Self> {
  setAttribute(name: string, value: string): void
  append(...nodes: (string | Self)[]): void
}

/** A picture as a node of a document, whose elements `create` makes. Its texts are never parsed as markup. */
export function svgNode<Node extends NodeLike<Node>>(picture: SvgElement, create: (name: string) => Node): Node {
  const node = create(picture.name)
  for (const [key, value] of Object.entries(picture.attributes)) node.setAttribute(key, String(value))
  node.append(...picture.children.map((child) => (typeof child === 'string' ? child : svgNode(child, create))))
  return node
}
