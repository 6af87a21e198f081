// Keeps runs that are compared as they are, while one of them goes on. It asks, for a browser keeps no more than six
// connections to a server: streams of five runs would leave one for all of its pages.
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
      // Away from the network: what was drawn stays until the next time.
    } finally {
      looking = false
    }
  }
}

for (const root of document.querySelectorAll<HTMLElement>('[data-compare-live]')) follow(root)
