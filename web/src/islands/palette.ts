// Ctrl-K or ⌘K: a dialog that goes to a page of the site or to a package.
import { findPackages, makeCombobox, type Option } from './nodes/combobox.ts'

let dialog: HTMLDialogElement | undefined

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  dialog ??= makePalette()
  if (dialog.open) dialog.close()
  else dialog.showModal()
})

function makePalette(): HTMLDialogElement {
  const made = document.createElement('dialog')
  made.className = 'palette'
  made.ariaLabel = 'Go to'
  const input = document.createElement('input')
  input.type = 'search'
  input.placeholder = 'Go to a page, scenario or agent'
  input.ariaLabel = input.placeholder
  input.maxLength = 200
  const list = document.createElement('div')
  list.className = 'palette-list'
  list.id = 'palette-list'
  list.role = 'listbox'
  list.ariaLabel = 'Results'
  list.hidden = true
  made.append(input, list)
  document.body.append(made)
  const pages = pagesHere()
  makeCombobox({
    box: made,
    input,
    list,
    find: async (text, signal) => [...matching(pages, text), ...(await findPackages(text, signal).catch(() => []))],
  })
  // The dialog itself is its backdrop.
  made.addEventListener('click', (event) => event.target === made && made.close())
  made.addEventListener('close', () => {
    input.value = ''
  })
  // Lists the pages before anything is typed.
  made.addEventListener('focusin', () => input.value === '' && input.dispatchEvent(new Event('input')))
  return made
}

/** The links of header, account menu and footer. */
function pagesHere(): Option[] {
  const links = document.querySelectorAll<HTMLAnchorElement>('.site-header a, .site-footer a')
  const pages = [...links].map((link) => {
    const path = link.getAttribute('href') ?? '/'
    return { href: path, title: link.textContent.trim(), name: path.split('?')[0], kind: 'page' }
  })
  return pages.filter(({ href }, index) => pages.findIndex((other) => other.href === href) === index)
}

function matching(pages: Option[], text: string): Option[] {
  const words = text.toLowerCase().split(/\s+/)
  return pages.filter(({ title, name }) => words.every((word) => `${title} ${name}`.toLowerCase().includes(word)))
}
