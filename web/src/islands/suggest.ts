// Suggestions below the search box while typing: a combobox over the API's search. Enter without a selection submits
// the form.

type Found = { packages: { name: string; title: string | null; kind: string }[] }

const waitMs = 120

for (const box of document.querySelectorAll<HTMLElement>('[data-suggest]')) {
  const input = box.querySelector('input')
  const list = box.querySelector<HTMLElement>('.suggestions')
  if (input !== null && list !== null) attach(box, input, list)
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

function attach(box: HTMLElement, input: HTMLInputElement, element: HTMLElement): void {
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
    const found = await search(input.value.trim(), signal)
    if (!signal.aborted && document.activeElement === input) list.show(found.map(optionOf))
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

/** Empty without words, or if the server does not respond; the form still works. */
async function search(q: string, signal: AbortSignal): Promise<Found['packages']> {
  if (q === '') return []
  try {
    const response = await fetch(`/v1/packages?limit=7&q=${encodeURIComponent(q)}`, { signal })
    return response.ok ? ((await response.json()) as Found).packages : []
  } catch {
    return []
  }
}

/** Set as text: titles are never parsed as markup. */
function optionOf({ name, title, kind }: Found['packages'][number], index: number): HTMLElement {
  const option = document.createElement('a')
  option.className = 'suggestion'
  option.id = `suggestion-${index}`
  option.role = 'option'
  option.ariaSelected = 'false'
  option.tabIndex = -1
  option.href = `/packages/${name}`
  for (const [part, text] of [
    ['title', title ?? name],
    ['name', name],
    ['kind', kind],
  ]) {
    const span = document.createElement('span')
    span.className = `suggestion-${part}`
    span.textContent = text
    option.append(span)
  }
  return option
}

export {}
