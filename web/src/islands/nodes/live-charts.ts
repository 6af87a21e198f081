import type { ProgressEvent } from '@agentgym/contract'
import { type ChartPoint, formatSteps, formatValue, share } from '@agentgym/contract/charts'
import { linePlot } from '../../pictures/line-plot.ts'
import { pictureNode } from './dom.ts'

/** All charts of a run's page, drawn from the same points. */
export class LiveCharts {
  readonly #charts: LiveChart[]
  /** By iteration, because a run that resumes from a checkpoint repeats some. */
  readonly #points = new Map<number, ProgressEvent>()
  #frame = 0

  constructor(root: HTMLElement) {
    this.#charts = [...root.querySelectorAll<HTMLElement>('[data-chart]')].map((figure) => new LiveChart(figure))
  }

  add(points: ProgressEvent[]): void {
    for (const point of points) this.#points.set(point.iteration, point)
  }

  /** Draws once at the next frame for all new points. */
  draw(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      const points = [...this.#points.values()].sort((a, b) => a.iteration - b.iteration)
      for (const chart of this.#charts) chart.draw(points)
    })
  }
}

/** Draws the server's chart with newer points. Hovering shows values, dragging zooms in, double-clicking zooms out. */
class LiveChart {
  readonly #figure: HTMLElement
  readonly #body: HTMLElement
  readonly #field: string
  readonly #target: number | undefined
  #points: ChartPoint[] = []
  #domain: [from: number, to: number] | undefined
  #dragFrom: number | undefined

  constructor(figure: HTMLElement) {
    this.#figure = figure
    this.#body = figure.querySelector<HTMLElement>('.chart-body') ?? figure
    this.#field = figure.dataset.chart ?? ''
    this.#target = figure.dataset.chartTarget === undefined ? undefined : Number(figure.dataset.chartTarget)
    this.#body.addEventListener('pointermove', (event) => this.#pointAt(this.#stepAt(event)))
    this.#body.addEventListener('pointerleave', () => this.#pointAt(undefined))
    this.#body.addEventListener('pointerdown', (event) => {
      this.#dragFrom = this.#stepAt(event)
    })
    this.#body.addEventListener('pointerup', (event) => this.#zoomTo(this.#stepAt(event)))
    this.#body.addEventListener('dblclick', () => this.#show(undefined))
  }

  draw(events: ProgressEvent[]): void {
    this.#points = events.map((event) => ({ x: event.steps, y: valueIn(event, this.#field) }))
    this.#redraw()
    this.#showValue(
      this.#points.findLast(({ y }) => y !== null),
      false,
    )
  }

  #redraw(): void {
    const plot = linePlot([this.#points], {
      size: this.#figure.classList.contains('chart-large') ? 'large' : 'small',
      target: this.#target,
      domain: this.#domain,
      label: this.#figure.querySelector('.chart-title')?.textContent ?? '',
    })
    if (plot === null) return
    this.#body.replaceChildren(pictureNode(plot.values), pictureNode(plot.lines), pictureNode(plot.steps))
    this.#figure.dataset.chartDrawn = String(this.#points.length)
  }

  #bounds(): [from: number, to: number] {
    return this.#domain ?? [0, Math.max(1, this.#points.at(-1)?.x ?? 1)]
  }

  /** The environment step under the pointer. */
  #stepAt({ clientX }: PointerEvent): number | undefined {
    const box = this.#body.querySelector('.chart-plot')?.getBoundingClientRect()
    if (box === undefined || clientX < box.left || clientX > box.right) return undefined
    const [from, to] = this.#bounds()
    return from + share(clientX, box.left, box.right) * (to - from)
  }

  #pointAt(step: number | undefined): void {
    const known = this.#points.filter(({ y }) => y !== null)
    const distance = ({ x }: ChartPoint) => Math.abs(x - (step ?? 0))
    const point = step === undefined ? known.at(-1) : known.sort((a, b) => distance(a) - distance(b)).at(0)
    this.#showValue(point, step !== undefined)
  }

  #zoomTo(step: number | undefined): void {
    const [from, to] = [this.#dragFrom, step].toSorted((a, b) => (a ?? 0) - (b ?? 0))
    this.#dragFrom = undefined
    if (from === undefined || to === undefined) return
    const [left, right] = this.#bounds()
    // Shorter drags count as clicks.
    if (to - from > (right - left) * 0.02) this.#show([from, to])
  }

  #show(domain: [from: number, to: number] | undefined): void {
    this.#domain = domain
    this.#redraw()
  }

  #showValue(point: ChartPoint | undefined, pointed: boolean): void {
    if (point === undefined || point.y === null) return
    const text = formatValue(point.y)
    const now = this.#figure.querySelector('.chart-now')
    now?.replaceChildren(pointed ? `${text} at ${formatSteps(point.x)}` : text)
  }
}

function valueIn(event: ProgressEvent, field: string): number | null {
  const value =
    field in event.learner ? event.learner[field as keyof ProgressEvent['learner']] : event[field as 'steps']
  return typeof value === 'number' ? value : null
}
