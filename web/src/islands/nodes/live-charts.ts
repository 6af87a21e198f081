import type { Evaluation, ProgressEvent } from '@agentgym/contract'
import {
  type ChartBand,
  type ChartPoint,
  formatSteps,
  formatValue,
  share,
  smoothPoints,
} from '@agentgym/contract/charts'
import { formatMetric } from '@agentgym/contract/metrics'
import { linePlot } from '../../pictures/line-plot.ts'
import { evaluated, seriesOf } from '../../run-metrics.ts'
import { pictureNode } from './dom.ts'

/** What all charts of a page have in common. */
type View = {
  /** Weight of the past, 0 to below 1. */
  smoothing: number
  scale: 'linear' | 'log'
  axis: Axis
  /** The part of the x axis in sight. */
  domain: [from: number, to: number] | undefined
}
type Axis = {
  name: string
  format: (value: number) => string
  at: (event: ProgressEvent) => number
  /** Of what has no time of its own. */
  xOf: (steps: number) => number
}

/** All charts of a run's page, drawn from the same points, with one pointer, one zoom and one set of controls. */
export class LiveCharts {
  readonly #root: HTMLElement
  readonly #charts: LiveChart[]
  /** By iteration, because a run that resumes from a checkpoint repeats some. */
  readonly #points = new Map<number, ProgressEvent>()
  #view: View = { smoothing: 0, scale: 'linear', axis: stepsAxis, domain: undefined }
  #frame = 0

  constructor(root: HTMLElement) {
    this.#root = root
    this.#charts = [...root.querySelectorAll<HTMLElement>('[data-chart]')].map((figure) => new LiveChart(figure, this))
    const tools = root.querySelector<HTMLElement>('[data-chart-tools]')
    if (tools === null) return
    tools.hidden = false
    tools.addEventListener('input', () => this.#takeTools(tools))
    tools.querySelector('[data-chart-reset]')?.addEventListener('click', () => this.zoom(undefined))
  }

  add(points: ProgressEvent[]): void {
    for (const point of points) this.#points.set(point.iteration, point)
  }

  addEvaluation(steps: number, evaluation: Evaluation): void {
    for (const chart of this.#charts) chart.addEvaluation(steps, evaluation)
    this.draw()
  }

  /** Draws once at the next frame for all new points. */
  draw(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      const points = [...this.#points.values()].sort((a, b) => a.iteration - b.iteration)
      if (this.#view.axis.name !== stepsAxis.name) this.#view.axis = clockAxis(points)
      for (const chart of this.#charts) chart.draw(points, this.#view)
    })
  }

  /** The same place in every chart; undefined where the pointer has left. */
  point(x: number | undefined): void {
    for (const chart of this.#charts) chart.point(x)
  }

  zoom(domain: View['domain']): void {
    this.#view = { ...this.#view, domain }
    this.#root.querySelector('[data-chart-reset]')?.toggleAttribute('disabled', domain === undefined)
    this.draw()
  }

  #takeTools(tools: HTMLElement): void {
    const field = (name: string) => tools.querySelector<HTMLInputElement>(`[name="${name}"]`)
    const clock = field('x')?.value === 'seconds'
    const axis = clock ? clockAxis([...this.#points.values()]) : stepsAxis
    if (axis.name !== this.#view.axis.name) this.zoom(undefined)
    const smoothing = Number(field('smoothing')?.value ?? 0)
    this.#view = { ...this.#view, axis, smoothing, scale: field('log')?.checked ? 'log' : 'linear' }
    this.draw()
  }
}

const stepsAxis: Axis = {
  name: 'environment steps',
  format: formatSteps,
  at: ({ steps }) => steps,
  xOf: (steps) => steps,
}

/** Training time, in the unit that fits. */
function clockAxis(points: ProgressEvent[]): Axis {
  const seconds = Math.max(0, ...points.slice(-1).map((point) => point.seconds))
  const [divisor, unit, name] =
    seconds < 120 ? [1, 's', 'seconds'] : seconds < 7_200 ? [60, 'min', 'minutes'] : [3_600, 'h', 'hours']
  const xOf = (steps: number) => (points.find((point) => point.steps >= steps)?.seconds ?? seconds) / divisor
  const format = (value: number) => `${formatValue(value)} ${unit}`
  return { name: `${name} of training`, format, at: (event) => event.seconds / divisor, xOf }
}

/** Draws the server's chart with newer points. Hovering shows values, dragging zooms in, double-clicking zooms out. */
class LiveChart {
  readonly #figure: HTMLElement
  readonly #body: HTMLElement
  readonly #charts: LiveCharts
  readonly #field: string
  readonly #target: number | undefined
  readonly #format: (value: number) => string
  readonly #bands: ChartBand[]
  /** By steps. */
  readonly #evaluations: ChartPoint[]
  #points: readonly ChartPoint[] = []
  #view: View | undefined
  #dragFrom: number | undefined

  constructor(figure: HTMLElement, charts: LiveCharts) {
    const { chart, chartTarget, chartValues, chartBands = '[]', chartEvaluations = '[]' } = figure.dataset
    this.#figure = figure
    this.#body = figure.querySelector<HTMLElement>('.chart-body') ?? figure
    this.#charts = charts
    this.#field = chart ?? ''
    this.#target = chartTarget === undefined ? undefined : Number(chartTarget)
    this.#format = (value) => formatMetric(value, chartValues === 'share' ? 'share' : 'number')
    const bands: [x: number, low: number, high: number][][] = JSON.parse(chartBands)
    this.#bands = bands.map((band) => band.map(([x, low, high]) => ({ x, low, high })))
    const evaluations: [x: number, y: number][] = JSON.parse(chartEvaluations)
    this.#evaluations = evaluations.map(([x, y]) => ({ x, y }))
    this.#body.addEventListener('pointermove', (event) => charts.point(this.#xAt(event)))
    this.#body.addEventListener('pointerleave', () => charts.point(undefined))
    this.#body.addEventListener('pointerdown', (event) => {
      this.#dragFrom = this.#xAt(event)
    })
    this.#body.addEventListener('pointerup', (event) => this.#zoomTo(this.#xAt(event)))
    this.#body.addEventListener('dblclick', () => charts.zoom(undefined))
  }

  addEvaluation(steps: number, evaluation: Evaluation): void {
    const y = evaluated(evaluation, this.#field)
    if (y !== null && !this.#evaluations.some(({ x }) => x === steps)) this.#evaluations.push({ x: steps, y })
  }

  draw(events: ProgressEvent[], view: View): void {
    const { smoothing, scale, axis, domain } = view
    this.#view = view
    const raw = seriesOf(events, this.#field).map((point, index) => ({ ...point, x: axis.at(events[index]) }))
    this.#points = smoothPoints(raw, smoothing)
    const plot = linePlot([this.#points], {
      size: this.#figure.classList.contains('chart-large') ? 'large' : 'small',
      target: this.#target,
      marks: this.#evaluations.map((mark) => ({ ...mark, x: axis.xOf(mark.x) })),
      // Their runs have clocks of their own.
      bands: axis === stepsAxis ? this.#bands : [],
      behind: smoothing > 0 ? [raw] : [],
      ...{ domain, scale, formatX: axis.format, formatY: this.#format },
      label: this.#figure.querySelector('.chart-title')?.textContent ?? '',
    })
    const nodes = plot === null ? [emptyNote(scale)] : [plot.values, plot.lines, plot.steps].map(pictureNode)
    this.#body.replaceChildren(...nodes)
    this.#figure.querySelector('.chart-unit')?.replaceChildren(axis.name)
    this.#figure.dataset.chartDrawn = String(this.#points.length)
    this.point(undefined)
  }

  point(x: number | undefined): void {
    const known = this.#points.filter(({ y }) => y !== null)
    const distance = (point: ChartPoint) => Math.abs(point.x - (x ?? 0))
    const point = x === undefined ? known.at(-1) : nearest(known, distance)
    const text = point === undefined || point.y === null ? '' : this.#format(point.y)
    const at = point === undefined || x === undefined ? '' : ` at ${this.#view?.axis.format(point.x)}`
    if (text !== '') this.#figure.querySelector('.chart-now')?.replaceChildren(text + at)
    this.#figure.querySelector('.chart-cross')?.remove()
    const plot = this.#body.querySelector('.chart-plot')
    if (point === undefined || x === undefined || plot === null) return
    const [from, to] = this.#bounds()
    const place = String(1000 * share(point.x, from, to))
    const cross = document.createElementNS('http://www.w3.org/2000/svg', 'line')
    for (const [name, value] of Object.entries({ class: 'chart-cross', x1: place, x2: place, y1: '0', y2: '1000' }))
      cross.setAttribute(name, value)
    plot.append(cross)
  }

  #bounds(): [from: number, to: number] {
    return this.#view?.domain ?? [0, Math.max(1, this.#points.at(-1)?.x ?? 1)]
  }

  /** Where on the x axis the pointer is. */
  #xAt({ clientX }: PointerEvent): number | undefined {
    const box = this.#body.querySelector('.chart-plot')?.getBoundingClientRect()
    if (box === undefined || clientX < box.left || clientX > box.right) return undefined
    const [from, to] = this.#bounds()
    return from + share(clientX, box.left, box.right) * (to - from)
  }

  #zoomTo(x: number | undefined): void {
    const [from, to] = [this.#dragFrom, x].toSorted((a, b) => (a ?? 0) - (b ?? 0))
    this.#dragFrom = undefined
    if (from === undefined || to === undefined) return
    const [left, right] = this.#bounds()
    // Shorter drags count as clicks.
    if (to - from > (right - left) * 0.02) this.#charts.zoom([from, to])
  }
}

function nearest(points: ChartPoint[], distance: (point: ChartPoint) => number): ChartPoint | undefined {
  let best: ChartPoint | undefined
  for (const point of points) if (best === undefined || distance(point) < distance(best)) best = point
  return best
}

function emptyNote(scale: View['scale']): HTMLElement {
  const note = document.createElement('p')
  note.className = 'chart-empty'
  note.textContent = scale === 'log' ? 'No values above 0' : 'No data yet'
  return note
}
