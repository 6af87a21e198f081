// Starts a play on demand: everything that plays, draws and sandboxes is loaded with the first press of Start.
const root = document.querySelector<HTMLElement>('[data-play]')
const start = root?.querySelector<HTMLButtonElement>('[data-play-part="start"]')

if (root != null && start != null) {
  start.hidden = false
  start.addEventListener('click', async () => {
    start.disabled = true
    start.textContent = 'Loading…'
    const { startPlay } = await import('./play/start-play.ts')
    await startPlay(root)
  })
}
