// Updates compared runs while one of them is running. Polls, because browsers limit connections to six per server, and
// streams of five runs would leave only one for everything else.
import { freshParts } from './nodes/dom.ts'

const refreshMs = 3_000

function follow(root: HTMLElement): void {
  const timer = setInterval(() => void look(), refreshMs)
  let looking = false
  const look = async () => {
    if (document.hidden || looking) return
    looking = true
    try {
      const fresh = await freshParts(root, location.href)
      if (fresh !== null && fresh.querySelector('[data-compare-live]') === null) clearInterval(timer)
    } catch {
      // Offline: the current view stays until the next poll.
    } finally {
      looking = false
    }
  }
}

for (const root of document.querySelectorAll<HTMLElement>('[data-compare-live]')) follow(root)
