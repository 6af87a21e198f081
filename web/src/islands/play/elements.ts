/** An element with properties and children; texts are never parsed as markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]> = {},
  ...children: (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

/** The element with that `data-play-part`, which the page has. */
export function partOf<Wanted extends HTMLElement = HTMLElement>(root: HTMLElement, part: string): Wanted {
  const found = root.querySelector<Wanted>(`[data-play-part="${part}"]`)
  if (found === null) throw new Error(`the page has no ${part}`)
  return found
}
