import type { SvgElement } from '../../pictures/svg-element.ts'

const namespace = 'http://www.w3.org/2000/svg'

/** A picture as a node of the document, for islands. */
export function svgNode({ name, attributes, children }: SvgElement): SVGElement {
  const node = document.createElementNS(namespace, name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value))
  node.append(...children.map((child) => (typeof child === 'string' ? child : svgNode(child))))
  return node
}
