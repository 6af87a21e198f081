// Suggestions below the search box while typing, and `/` to focus it.
import { findPackages, makeCombobox } from './nodes/combobox.ts'

for (const box of document.querySelectorAll<HTMLElement>('[data-suggest]')) {
  const input = box.querySelector('input')
  const list = box.querySelector<HTMLElement>('.suggestions')
  if (input === null || list === null) continue
  makeCombobox({ box, input, list, find: findPackages })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    event.preventDefault()
    input.focus()
  })
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog, [contenteditable]') !== null
}
