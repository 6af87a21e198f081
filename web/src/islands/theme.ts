// Switches the theme immediately; without this script, the form reloads the page.

const form = document.querySelector<HTMLFormElement>('.theme-switch')

form?.addEventListener('submit', (event) => {
  const button = event.submitter
  if (!(button instanceof HTMLButtonElement)) return
  event.preventDefault()
  const theme = button.value
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const age = theme === 'system' ? 0 : 365 * 86_400
  // The server reads it for the next page, so that no page flashes in the wrong theme. The Cookie Store API is not
  // available everywhere.
  Reflect.set(document, 'cookie', `agentgym_theme=${theme}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`)
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  document
    .querySelector('meta[name="color-scheme"]')
    ?.setAttribute('content', theme === 'system' ? 'light dark' : theme)
  for (const other of form.querySelectorAll('button')) other.setAttribute('aria-pressed', String(other === button))
})

export {}
