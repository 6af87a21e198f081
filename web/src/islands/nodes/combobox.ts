/** A link in the list below a combobox. */
export type Option = { href: string; title: string; name: string; kind: string }

type ComboboxParts = {
  /** Contains input and list; leaving it closes the list. */
  box: HTMLElement
  input: HTMLInputElement
  list: HTMLElement
  /** Options for the trimmed text. Throws if they could not be loaded. */
  find(text: string, signal: AbortSignal): Promise<Option[]>
}

const waitMs = 120

/** Shows links below an input while typing, selected by arrow keys. Enter without a selection submits the form. */
export function makeCombobox({ box, input, list: element, find }: ComboboxParts): void {
  const list = makeList(input, element)
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()
  const close = () => {
    clearTimeout(timer)
    asking.abort()
    list.show([])
  }
  const ask = async () => {
    asking.abort()
    asking = new AbortController()
    const { signal } = asking
    const found = await find(input.value.trim(), signal).catch(() => [])
    if (!signal.aborted && document.activeElement === input)
      list.show(found.map((option, index) => optionOf(option, `${element.id}-${index}`)))
  }
  input.role = 'combobox'
  input.ariaAutoComplete = 'list'
  input.ariaExpanded = 'false'
  input.setAttribute('aria-controls', element.id)
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(ask, waitMs)
  })
  input.addEventListener('keydown', (event) => {
    if (!list.isOpen()) return
    const option = list.chosen()
    if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown') list.down()
    else if (event.key === 'ArrowUp') list.up()
    else if (event.key === 'Enter' && option instanceof HTMLAnchorElement) location.href = option.href
    else return
    event.preventDefault()
  })
  box.addEventListener('focusout', (event) => {
    if (!(event.relatedTarget instanceof Node) || !box.contains(event.relatedTarget)) close()
  })
  // A press must not take the focus away before the click arrives.
  element.addEventListener('mousedown', (event) => event.preventDefault())
}

/** The open list and its selected option; -1 for none. */
function makeList(input: HTMLInputElement, list: HTMLElement) {
  let chosen = -1
  const choose = (index: number) => {
    const options = [...list.children]
    chosen = index < 0 ? options.length - 1 : index % options.length
    for (const [at, option] of options.entries()) option.ariaSelected = String(at === chosen)
    input.setAttribute('aria-activedescendant', options[chosen].id)
    options[chosen].scrollIntoView({ block: 'nearest' })
  }
  return {
    show: (options: HTMLElement[]) => {
      list.replaceChildren(...options)
      list.hidden = options.length === 0
      chosen = -1
      input.ariaExpanded = String(!list.hidden)
      input.removeAttribute('aria-activedescendant')
    },
    isOpen: () => !list.hidden,
    down: () => choose(chosen + 1),
    up: () => choose(chosen - 1),
    chosen: () => list.children.item(chosen),
  }
}

/** Packages found by the API; none without words. */
export async function findPackages(q: string, signal: AbortSignal): Promise<Option[]> {
  if (q === '') return []
  const response = await fetch(`/v1/packages?limit=7&q=${encodeURIComponent(q)}`, { signal })
  if (!response.ok) return []
  const { packages } = (await response.json()) as {
    packages: { name: string; title: string | null; kind: string }[]
  }
  return packages.map(({ name, title, kind }) => ({ href: `/packages/${name}`, title: title ?? name, name, kind }))
}

/** Set as text: titles are never parsed as markup. */
function optionOf({ href, title, name, kind }: Option, id: string): HTMLElement {
  const option = document.createElement('a')
  option.className = 'suggestion'
  option.id = id
  option.role = 'option'
  option.ariaSelected = 'false'
  option.tabIndex = -1
  option.href = href
  for (const [part, text] of Object.entries({ title, name, kind })) {
    const span = document.createElement('span')
    span.className = `suggestion-${part}`
    span.textContent = text
    option.append(span)
  }
  return option
}
