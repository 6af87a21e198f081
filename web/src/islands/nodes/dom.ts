import { type SvgElement, svgNamespace, svgNode } from '@agentgym/pictures'

/**
 * Replaces the parts of a page (`data-part`) below `root` by the server's current rendering, except forms that have the
 * focus. Calls `before` with each part that is about to change. Returns the page, or null if it could not be loaded.
 */
export async function freshParts(
  root: HTMLElement,
  address: string,
  before: (part: HTMLElement, drawn: Element) => void = () => {},
): Promise<Document | null> {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  if (!response.ok) return null
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of root.querySelectorAll<HTMLElement>('[data-part]')) {
    const drawn = fresh.querySelector(`[data-part="${part.dataset.part}"]`)
    if (drawn === null || part.contains(document.activeElement) || drawn.innerHTML === part.innerHTML) continue
    before(part, drawn)
    part.replaceChildren(...drawn.childNodes)
  }
  return fresh
}

/** A picture as a node of the document, for islands. */
export function pictureNode(picture: SvgElement): SVGElement {
  return svgNode(picture, (name) => document.createElementNS(svgNamespace, name))
}

const drawing = new Set(['svg', 'rect'])

/** HTML that the server renders from the same data, as a node; pictures in it are of rectangles alone. */
export function htmlNode(data: SvgElement): Element {
  return svgNode(
    data,
    (name): Element =>
      drawing.has(name) ? document.createElementNS(svgNamespace, name) : document.createElement(name),
  )
}

/**
 * Shows `content` in `place`, and touches nothing that is there already. A picture stays and is filled anew: browsers then lay out the
 * picture alone, and not the page around it, with each of many frames a second.
 */
export function showIn(place: Element, content: string | Element): void {
  const shown = place.children.length === 1 ? place.children[0] : undefined
  if (typeof content === 'string') {
    if (place.textContent !== content) place.textContent = content
  } else if (shown instanceof SVGSVGElement && content instanceof SVGSVGElement) {
    for (const name of shown.getAttributeNames()) if (!content.hasAttribute(name)) shown.removeAttribute(name)
    for (const { name, value } of content.attributes)
      if (shown.getAttribute(name) !== value) shown.setAttribute(name, value)
    shown.replaceChildren(...content.childNodes)
  } else if (!shown?.isEqualNode(content)) place.replaceChildren(content)
}
