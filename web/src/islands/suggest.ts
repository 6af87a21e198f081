// Suggestions under the search box while one types: a combobox over the API's own search. Enter without a choice
// searches as the form does.

type Found = { packages: { name: string; title: string | null; kind: string }[] }

const waitMs = 120
const box = document.querySelector<HTMLElement>('[data-suggest]')
const input = box?.querySelector('input')
const list = box?.querySelector<HTMLElement>('.suggestions')
if (box && input && list) suggest(box, input, list)

function suggest(box: HTMLElement, input: HTMLInputElement, list: HTMLElement): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()
  let chosen = -1

  const close = () => {
    clearTimeout(timer)
    asking.abort()
    list.hidden = true
    chosen = -1
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const choose = (index: number) => {
    const options = [...list.children]
    if (options.length === 0) return
    chosen = (index + options.length) % options.length
    for (const [at, option] of options.entries()) option.setAttribute('aria-selected', String(at === chosen))
    input.setAttribute('aria-activedescendant', options[chosen].id)
    options[chosen].scrollIntoView({ block: 'nearest' })
  }
  const ask = async () => {
    const q = input.value.trim()
    if (q === '') return close()
    asking.abort()
    asking = new AbortController()
    try {
      const response = await fetch(`/v1/packages?limit=7&q=${encodeURIComponent(q)}`, { signal: asking.signal })
      if (!response.ok) return close()
      const { packages }: Found = await response.json()
      if (packages.length === 0 || document.activeElement !== input) return close()
      list.replaceChildren(...packages.map(optionOf))
      list.hidden = false
      chosen = -1
      input.setAttribute('aria-expanded', 'true')
      input.removeAttribute('aria-activedescendant')
    } catch {
      // Aborted by the next letter, or offline: the form still searches.
    }
  }

  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': list.id,
  }))
    input.setAttribute(name, value)
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(ask, waitMs)
  })
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !list.hidden) {
      event.preventDefault()
      close()
    }
    if (list.hidden) return
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      choose(event.key === 'ArrowDown' ? chosen + 1 : Math.max(chosen, 0) - 1)
    }
    const option = list.children[chosen]
    if (event.key === 'Enter' && option instanceof HTMLAnchorElement) {
      event.preventDefault()
      location.href = option.href
    }
  })
  box.addEventListener('focusout', (event) => {
    if (!(event.relatedTarget instanceof Node) || !box.contains(event.relatedTarget)) close()
  })
  // A press must not take the focus away before the click arrives.
  list.addEventListener('mousedown', (event) => event.preventDefault())
}

/** Texts are set as texts: what a title holds is never read as markup. */
function optionOf({ name, title, kind }: Found['packages'][number], index: number): HTMLElement {
  const option = document.createElement('a')
  option.className = 'suggestion'
  option.id = `suggestion-${index}`
  option.role = 'option'
  option.ariaSelected = 'false'
  option.tabIndex = -1
  option.href = `/packages/${name.split('/').map(encodeURIComponent).join('/').replace('%40', '@')}`
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
