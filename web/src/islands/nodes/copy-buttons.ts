const shownMs = 1_500

/** Shows the button of every [data-copy], which puts the text on the clipboard. */
export function showCopyButtons(root: ParentNode): void {
  for (const command of root.querySelectorAll<HTMLElement>('[data-copy]')) {
    const button = command.querySelector<HTMLButtonElement>('.command-copy')
    // Browsers provide the clipboard only over TLS and on localhost.
    if (button === null || navigator.clipboard === undefined) continue
    const label = button.getAttribute('aria-label') ?? ''
    let timer: ReturnType<typeof setTimeout> | undefined
    button.hidden = false
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(command.dataset.copy ?? '')
      button.dataset.done = ''
      button.setAttribute('aria-label', 'Copied')
      clearTimeout(timer)
      timer = setTimeout(() => {
        delete button.dataset.done
        button.setAttribute('aria-label', label)
      }, shownMs)
    })
  }
}
