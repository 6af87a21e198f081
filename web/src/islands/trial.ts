// Sends the form of a trial without leaving the page, and shows the answer beside it. The form works without.

import { showCopyButtons } from './nodes/copy-buttons.ts'

const parts = ['trial-form', 'trial-answer'] as const
const partOf = (root: ParentNode, part: string) => root.querySelector<HTMLElement>(`[data-part="${part}"]`)

for (const root of document.querySelectorAll<HTMLElement>('[data-trial]'))
  root.addEventListener('submit', (event) => {
    const { target: form } = event
    if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
    event.preventDefault()
    void send(root, form)
  })

async function send(root: HTMLElement, form: HTMLFormElement): Promise<void> {
  const button = form.querySelector<HTMLButtonElement>('button[type="submit"]')
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
  if (button !== null) button.disabled = true
  try {
    const response = await fetch(form.action, { method: 'POST', body: fields, headers: { accept: 'text/html' } })
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
    if (!show(root, fresh)) form.submit()
  } catch {
    if (button !== null) button.disabled = false
    form.submit()
  }
}

/** False if the response is another page, such as the login. */
function show(root: HTMLElement, fresh: Document): boolean {
  const drawn = parts.map((part) => partOf(fresh, part))
  if (drawn.some((part) => part === null)) return false
  const focused = document.activeElement?.getAttribute('name') ?? null
  for (const [index, part] of parts.entries()) partOf(root, part)?.replaceChildren(...(drawn[index]?.childNodes ?? []))
  showCopyButtons(root)
  const wrong = root.querySelector<HTMLElement>('[aria-invalid="true"]')
  const before = focused === null ? null : root.querySelector<HTMLElement>(`[name="${CSS.escape(focused)}"]`)
  const next = wrong ?? before ?? root.querySelector<HTMLElement>('button[type="submit"]')
  next?.focus({ preventScroll: wrong === null })
  return true
}
