// Compared runs: the pointer shows the values of all lines. Updates the page while a run is running. Polls, because browsers
// limit connections to six per server, and streams of five runs would leave only one for everything else.
import { formatSteps } from '@agentgym/contract/charts'
import { formatMetric } from '@agentgym/contract/metrics'
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

/** The pictures span 1,000 by 1,000 units. */
const size = 1000

/** Shows the values at the pointer in the legend. They are read from the lines, as the server has drawn them. */
function point(figure: HTMLElement, clientX: number): void {
  const plot = figure.querySelector('.chart-plot')
  const box = plot?.getBoundingClientRect()
  if (plot == null || box === undefined || clientX < box.left || clientX > box.right) return
  const [[from, to], [low, high]]: [number, number][] = JSON.parse(figure.dataset.chartPointed ?? '[[0,1],[0,1]]')
  const unit = figure.dataset.chartValues === 'share' ? 'share' : 'number'
  const place = (size * (clientX - box.left)) / box.width
  for (const [index, value] of [...figure.querySelectorAll('.chart-legend-value')].entries()) {
    const lines = [...plot.querySelectorAll(`path.chart-line-${index + 1}:not(.chart-band)`)]
    const corners = lines.flatMap((line) => [...(line.getAttribute('d') ?? '').matchAll(/[ML]([\d.]+) ([\d.]+)/g)])
    const near = corners.reduce<{ y: number; off: number } | null>((best, [, x, y]) => {
      const off = Math.abs(Number(x) - place)
      return best === null || off < best.off ? { y: Number(y), off } : best
    }, null)
    const shown = near === null ? '–' : formatMetric(low + (1 - near.y / size) * (high - low), unit)
    value.replaceChildren(` ${shown}`)
  }
  const now = figure.querySelector('.chart-now')
  now?.replaceChildren(`at ${formatSteps(Math.round(from + (place / size) * (to - from)))} steps`)
  plot.querySelector('.chart-cross')?.remove()
  const cross = document.createElementNS('http://www.w3.org/2000/svg', 'line')
  const ends = { class: 'chart-cross', x1: String(place), x2: String(place), y1: '0', y2: String(size) }
  for (const [name, end] of Object.entries(ends)) cross.setAttribute(name, end)
  plot.append(cross)
}

for (const root of document.querySelectorAll<HTMLElement>('[data-compare]')) {
  if (root.dataset.compareLive !== undefined) follow(root)
  root.addEventListener('pointermove', ({ target, clientX }) => {
    const figure = target instanceof Element ? target.closest<HTMLElement>('[data-chart-pointed]') : null
    if (figure !== null) point(figure, clientX)
  })
}
