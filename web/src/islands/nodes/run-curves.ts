import type { ProgressEvent } from '@agentgym/contract'
import uPlot from 'uplot'
import { shownNumber } from '../../pictures/shown-number.ts'
import { stepCount } from '../../pictures/step-count.ts'

/** Every chart of a run's page, drawn from the same points. */
export class RunCurves {
  readonly #charts: Curve[]
  /** By iteration: a run that goes on from a checkpoint repeats some. */
  readonly #points = new Map<number, ProgressEvent>()
  #frame = 0

  constructor(root: HTMLElement) {
    this.#charts = [...root.querySelectorAll<HTMLElement>('[data-chart]')].map((figure) => new Curve(figure))
    const redraw = () => this.draw()
    // Colours are the theme's.
    new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ['data-theme'] })
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  }

  add(points: ProgressEvent[]): void {
    for (const point of points) this.#points.set(point.iteration, point)
  }

  /** At the next frame, once for all that came. */
  draw(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      const points = [...this.#points.values()].sort((a, b) => a.iteration - b.iteration)
      for (const chart of this.#charts) chart.draw(points)
    })
  }
}

class Curve {
  readonly #figure: HTMLElement
  readonly #field: string
  readonly #target: number | undefined
  #plot: uPlot | undefined

  constructor(figure: HTMLElement) {
    this.#figure = figure
    this.#field = figure.dataset.chart ?? ''
    this.#target = figure.dataset.chartTarget === undefined ? undefined : Number(figure.dataset.chartTarget)
  }

  draw(points: ProgressEvent[]): void {
    const values = points.map((point) => figureIn(point, this.#field))
    if (values.every((value) => value === null)) return
    const data: uPlot.AlignedData = [points.map(({ steps }) => steps), values]
    this.#plot ??= this.#open(data)
    this.#plot.setData(data)
    this.#say(points.length - 1)
  }

  /** In place of what the server drew, as high as that was. */
  #open(data: uPlot.AlignedData): uPlot {
    const body = this.#figure.querySelector<HTMLElement>('.chart-body')
    const stage = document.createElement('div')
    stage.className = 'chart-drawn'
    stage.setAttribute('role', 'img')
    stage.setAttribute('aria-label', this.#figure.querySelector('.chart-title')?.textContent ?? '')
    body?.replaceWith(stage)
    this.#figure.querySelector('.chart-steps')?.remove()
    const size = () => ({ width: stage.clientWidth, height: stage.clientHeight })
    const plot = new uPlot(this.#options(size()), data, stage)
    new ResizeObserver(() => plot.setSize(size())).observe(stage)
    return plot
  }

  #options({ width, height }: { width: number; height: number }): uPlot.Options {
    const ink = () => colour(this.#figure, '--dim')
    const grid = { stroke: () => colour(this.#figure, '--line'), width: 1 }
    const font = `12px ${getComputedStyle(this.#figure).fontFamily}`
    const axis = { stroke: ink, grid, font, ticks: { show: false } }
    const large = this.#figure.classList.contains('chart-large')
    return {
      width,
      height,
      // Half of the last label stands beyond the curve's end.
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => this.#range(low, high) } },
      axes: [
        { ...axis, size: 24, gap: 4, grid: { show: false }, values: (_, at) => at.map(stepCount) },
        { ...axis, size: 56, gap: 8, space: large ? 56 : 32, values: (_, at) => at.map(shownNumber) },
      ],
      series: [
        {},
        {
          stroke: () => colour(this.#figure, '--chart-1'),
          width: large ? 2 : 1.75,
          points: { show: false },
          spanGaps: true,
        },
      ],
      hooks: {
        draw: [(plot) => this.#drawTarget(plot)],
        setCursor: [(plot) => this.#say(plot.cursor.idx ?? plot.data[0].length - 1, plot)],
      },
    }
  }

  /** The target is in sight, with room above and below. */
  #range(low: number | null, high: number | null): [number, number] {
    const ends = [low, high, this.#target].filter((value): value is number => typeof value === 'number')
    const [least, most] = ends.length === 0 ? [0, 1] : [Math.min(...ends), Math.max(...ends)]
    const room = least === most ? Math.max(1, Math.abs(least) * 0.1) : (most - least) * 0.05
    return [least - room, most + room]
  }

  #drawTarget({ ctx, bbox, valToPos }: uPlot): void {
    if (this.#target === undefined) return
    const y = valToPos(this.#target, 'y', true)
    ctx.save()
    ctx.strokeStyle = colour(this.#figure, '--accent')
    ctx.lineWidth = 1.5 * devicePixelRatio
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    ctx.restore()
  }

  /** The figure under the pointer, or the latest. */
  #say(index: number, plot = this.#plot): void {
    const value = plot?.data[1][index]
    const at = plot?.data[0][index]
    const pointed = plot?.cursor.idx !== null && plot?.cursor.idx !== undefined
    const text = typeof value === 'number' ? shownNumber(value) : '–'
    const now = this.#figure.querySelector('.chart-now')
    now?.replaceChildren(pointed && at !== undefined ? `${text} at ${stepCount(at)}` : text)
  }
}

function figureIn(point: ProgressEvent, field: string): number | null {
  const value =
    field in point.learner ? point.learner[field as keyof ProgressEvent['learner']] : point[field as 'steps']
  return typeof value === 'number' ? value : null
}

/** A canvas knows no custom properties: what they come to on this element. */
function colour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  element.append(probe)
  const found = getComputedStyle(probe).color
  probe.remove()
  return found
}
