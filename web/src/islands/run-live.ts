// Follows a running run: extends its curves, updates its metrics, and refetches the server-rendered parts after events.
// For an ended run, only makes the curves interactive.
import type { ProgressEvent, RunEvent } from '@agentgym/contract'
import { formatMetric } from '@agentgym/contract/metrics'
import { formatDuration } from '../format.ts'
import { freshParts } from './nodes/dom.ts'
import { LiveCharts } from './nodes/live-charts.ts'
import { RunEpisodes } from './nodes/run-episodes.ts'

/** Cost and queue position change without events. */
const refreshMs = 15_000
/** Events arrive in groups: a checkpoint with an evaluation, the end with a package. */
const settleMs = 400
const pageSize = 5_000
const mostPages = 20

const eventTypes: RunEvent['type'][] = [
  'queued',
  'running',
  'progress',
  'evaluation',
  'checkpoint',
  'budget_warning',
  'cancel_requested',
  'completed',
  'failed',
  'cancelled',
  'budget_exceeded',
  'paused',
  'published',
  'publish_failed',
]

class LiveRun {
  readonly #root: HTMLElement
  readonly #address: string
  readonly #curves: LiveCharts
  readonly #episodes: RunEpisodes | undefined
  #source: EventSource | undefined
  #settling: ReturnType<typeof setTimeout> | undefined

  constructor(root: HTMLElement) {
    this.#root = root
    this.#address = `/v1/runs/${root.dataset.run}`
    this.#curves = new LiveCharts(root)
    const episodes = root.querySelector<HTMLElement>('[data-episodes]')
    this.#episodes = episodes === null ? undefined : new RunEpisodes(episodes)
  }

  async start(): Promise<void> {
    this.#episodes?.listen()
    if (this.#root.dataset.runLive !== undefined) this.#follow()
    let after: number | null = 0
    for (let page = 0; page < mostPages && after !== null; page++) {
      const response = await fetch(`${this.#address}/metrics?after_iteration=${after}&limit=${pageSize}`)
      // The page stays unchanged.
      if (!response.ok) return
      const metrics: { points: ProgressEvent[]; next: number | null } = await response.json()
      this.#curves.add(metrics.points)
      after = metrics.next
    }
    this.#curves.draw()
  }

  #follow(): void {
    // EventSource reconnects from the last event by itself; a 204 ends it.
    const source = new EventSource(`${this.#address}/events?after=${this.#root.dataset.runEvent ?? 0}`)
    this.#source = source
    for (const type of eventTypes) source.addEventListener(type, (message) => this.#take(JSON.parse(message.data)))
    setInterval(() => {
      if (!document.hidden && source.readyState !== EventSource.CLOSED) void this.#refresh()
    }, refreshMs)
  }

  #take(event: RunEvent): void {
    if (event.type === 'progress') {
      this.#curves.add([event.data])
      this.#curves.draw()
      // In the same frame as the curves.
      requestAnimationFrame(() => this.#showMetrics(event.data))
      return
    }
    if (event.type === 'evaluation') this.#curves.addEvaluation(event.data.steps, event.data.evaluation)
    clearTimeout(this.#settling)
    this.#settling = setTimeout(() => void this.#refresh(), settleMs)
  }

  #showMetrics(point: ProgressEvent): void {
    const left = point.steps_total - point.steps
    this.#showMetric('return_mean', formatMetric(point.return_mean))
    this.#showMetric('steps', point.steps.toLocaleString('en'))
    this.#showMetric('steps_per_second', formatMetric(point.steps_per_second))
    this.#showMetric('episodes_total', point.episodes_total.toLocaleString('en'))
    if (point.steps_per_second > 0) this.#showMetric('time_left', formatDuration(left / point.steps_per_second))
  }

  #showMetric(name: string, text: string): void {
    this.#root.querySelector(`[data-metric="${name}"]`)?.replaceChildren(text)
  }

  /** The server's current rendering of the page's parts. */
  async #refresh(): Promise<void> {
    const fresh = await freshParts(this.#root, `/runs/${this.#root.dataset.run}`, (part, drawn) => {
      if (part.dataset.part === 'head') this.#announce(drawn)
    })
    if (fresh !== null) this.#episodes?.refresh(fresh)
    const root = fresh?.querySelector<HTMLElement>('[data-run]')
    if (root != null && root.dataset.runLive === undefined) this.#source?.close()
  }

  #announce(head: Element): void {
    const state = head.querySelector('.run-state')?.textContent ?? ''
    this.#root.querySelector('[data-run-status]')?.replaceChildren(state)
  }
}

for (const root of document.querySelectorAll<HTMLElement>('[data-run]')) void new LiveRun(root).start()
