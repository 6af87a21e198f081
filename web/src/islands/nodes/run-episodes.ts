import { ReplayTransport, replayEvents } from './replay-transport.ts'

/**
 * The episodes on a run's page, sampled during training. Shows the one that is chosen, and new ones as they come, after the one
 * that plays, until the viewer stops it or chooses an older one.
 */
export class RunEpisodes {
  readonly #root: HTMLElement
  #following: boolean

  constructor(root: HTMLElement) {
    this.#root = root
    this.#following = this.#current === this.#links.at(-1)
  }

  listen(): void {
    const root = this.#root
    root.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-episode]') : null
      if (link === null || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      this.#following = link === this.#links.at(-1)
      this.#show(link)
    })
    root.addEventListener(replayEvents.stopped, () => {
      this.#following = false
    })
    root.addEventListener(replayEvents.ended, () => this.#follow())
  }

  /** Takes the list from the server's current rendering of the page. */
  refresh(fresh: Document): void {
    const drawn = fresh.querySelector<HTMLElement>('[data-episodes]')
    const [list, known] = [drawn, this.#root].map((root) => root?.querySelector('.run-episode-list') ?? null)
    if (drawn === null || list === null) return
    if (known === null) {
      this.#root.replaceChildren(...drawn.childNodes)
      const [figure, range] = [this.#figure, this.#root.querySelector<HTMLInputElement>('.replay-range')]
      if (figure !== null && range !== null) new ReplayTransport(figure, range).listen()
      return
    }
    const current = this.#current?.dataset.episode
    const focused = this.#links.find((link) => link === document.activeElement)?.dataset.episode
    known.replaceChildren(...list.children)
    this.#mark(current)
    this.#links.find(({ dataset }) => dataset.episode === focused)?.focus()
    if (!this.#figure?.hasAttribute('data-playing')) this.#follow()
  }

  get #figure(): HTMLElement | null {
    return this.#root.querySelector<HTMLElement>('[data-replay]')
  }

  /** In order of steps. */
  get #links(): HTMLElement[] {
    return [...this.#root.querySelectorAll<HTMLElement>('[data-episode]')]
  }

  get #current(): HTMLElement | undefined {
    return this.#links.find((link) => link.hasAttribute('aria-current'))
  }

  #follow(): void {
    const latest = this.#links.at(-1)
    if (this.#following && latest !== undefined && latest !== this.#current) this.#show(latest)
  }

  #show(link: HTMLElement): void {
    this.#mark(link.dataset.episode)
    const { address, title = '' } = link.dataset
    this.#root.querySelector('.run-episode-now')?.replaceChildren(title)
    this.#figure?.dispatchEvent(new CustomEvent(replayEvents.source, { detail: { address, title } }))
  }

  #mark(episode: string | undefined): void {
    for (const link of this.#links) {
      if (link.dataset.episode === episode) link.setAttribute('aria-current', 'true')
      else link.removeAttribute('aria-current')
    }
  }
}
