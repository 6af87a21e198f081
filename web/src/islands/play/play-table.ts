import { playedSeed, type ScenarioView } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { actionName, episodeFrame, transcriptCalls, transcriptTexts } from '@agentgym/pictures'
import { actionControls, RandomActions } from '@agentgym/playing'
import { pictureNode } from '../nodes/dom.ts'
import { ActionPanel } from './action-panel.ts'
import { element, partOf } from './elements.ts'
import { GuestEnvironment, ScenarioFault } from './guest-environment.ts'
import { offerToKeep } from './keep-episode.ts'
import { PlayedEpisode } from './played-episode.ts'
import { PolicyPlayer } from './policy-player.ts'
import { readPackageFiles } from './read-package-files.ts'
import { type EndReason, SandboxedWorker, WorkerEnded } from './sandboxed-worker.ts'

export type PlayConfiguration = {
  /** `@acme/maze` and `1.0.0`. */
  name: string
  version: string
  /** SHA-256 (hex) of the bundle. */
  hash: string
  tarball: string
  view: ScenarioView | null
  /** Agents that the visitor may have, by name, with the addresses of their tarballs. */
  agents: { name: string; tarball: string }[]
  /** Where the visitor's own episodes are kept; null unless logged in. */
  keep: string | null
  /** Addresses of the frame's document, and of the scripts of its two workers. */
  frame: string
  guest: string
  policy: string
}

/** `onEnd` is called once, when the scenario has ended by itself; its argument is for the visitor. */
type Opened = { guest: SandboxedWorker; environment: GuestEnvironment; onEnd(why: string): void }

type Chosen =
  | { kind: 'person' }
  | { kind: 'random'; actions: RandomActions }
  | { kind: 'agent'; name: string; policy: PolicyPlayer }

const seed = playedSeed

const endings: Record<EndReason, string> = {
  hung: 'did not answer within 2 seconds',
  protocol: 'sent what it must not send',
  crashed: 'crashed, perhaps for lack of memory',
}

/** The page's play: one scenario in a sandboxed worker, played by the visitor, an agent or chance. */
export class PlayTable {
  readonly #root: HTMLElement
  readonly #configuration: PlayConfiguration
  readonly #panel: ActionPanel
  readonly #environment: GuestEnvironment
  readonly #onEnd: (why: string) => void
  readonly #guest: SandboxedWorker
  /** Choices of each categorical column. */
  readonly #counts: number[]
  #chosen: Chosen = { kind: 'person' }
  /** The player that was asked for last. */
  #wanted = 'person'
  #number = 0
  #played: PlayedEpisode
  #running = false
  #timer: ReturnType<typeof setTimeout> | undefined
  /** The step or the change of the episode that is under way: there is one at a time. */
  #work: Promise<void> = Promise.resolve()
  #busy = false
  #closed = false
  /** In real time: the action of the key that is held. */
  #held: { key: string; action: number[] } | null = null
  /** Best return of each player in this visit. */
  readonly #best = new Map<string, number>()

  private constructor(root: HTMLElement, configuration: PlayConfiguration, { guest, environment, onEnd }: Opened) {
    this.#root = root
    this.#configuration = configuration
    this.#guest = guest
    this.#environment = environment
    this.#onEnd = onEnd
    const controls = actionControls(environment.description.action)
    this.#counts = controls.flatMap(({ counts }) => counts)
    this.#played = new PlayedEpisode(environment, { policy: 'person', view: configuration.view })
    const { action } = this.#played.episode
    this.#panel = new ActionPanel(partOf(root, 'actions'), { action, controls }, (row) => void this.#act(row))
  }

  /** Loads the scenario, and begins its first episode. Rejects with an error whose message is for the visitor. */
  static async open(
    root: HTMLElement,
    configuration: PlayConfiguration,
    onEnd: (why: string) => void,
  ): Promise<PlayTable> {
    const { frame, guest: script, tarball } = configuration
    const [files, source] = await Promise.all([readPackageFiles(tarball), textOf(script)])
    const bundle = files.get('dist/scenario.js')
    if (bundle === undefined) throw new Error('The package holds no scenario.')
    const guest = await SandboxedWorker.open({
      ...{ frame, script: source },
      onEnd: (reason) => onEnd(`The scenario ${endings[reason]}, so its sandbox was closed.`),
    })
    try {
      const environment = await GuestEnvironment.load(guest, new TextDecoder().decode(bundle), seed)
      await environment.begin(0)
      const table = new PlayTable(root, configuration, { guest, environment, onEnd })
      table.#draw()
      return table
    } catch (error) {
      guest.close()
      throw error
    }
  }

  close(): void {
    this.#closed = true
    this.#pause()
    this.#guest.close()
    if (this.#chosen.kind === 'agent') this.#chosen.policy.close()
  }

  /** Another player begins the episode anew: `person`, `random`, or the name of an agent. */
  async choose(player: string): Promise<void> {
    this.#pause()
    if (this.#chosen.kind === 'agent') this.#chosen.policy.close()
    this.#chosen = { kind: 'person' }
    this.#say(player.startsWith('@') ? 'Loading the agent…' : '')
    this.#wanted = player
    const chosen = await this.#playerOf(player)
    // Another may have been chosen while an agent was loaded.
    if (this.#closed || this.#wanted !== player) {
      if (chosen.kind === 'agent') chosen.policy.close()
      return
    }
    this.#chosen = chosen
    await this.#begin(this.#number)
    this.toggle(player !== 'person')
  }

  async #playerOf(player: string): Promise<Chosen> {
    if (player === 'person') return { kind: 'person' }
    if (player === 'random') return { kind: 'random', actions: new RandomActions(this.#environment.description, seed) }
    const { frame, policy: script, hash, agents } = this.#configuration
    const agent = agents.find(({ name }) => name === player)
    if (agent === undefined) throw new Error('There is no such agent here.')
    const worker = await SandboxedWorker.open({
      ...{ frame, script: await textOf(script) },
      onEnd: (reason) => this.#stopped(`The agent ${endings[reason]}.`),
    })
    try {
      const policy = await PolicyPlayer.load(worker, { tarball: agent.tarball, hash })
      return { kind: 'agent', name: player, policy }
    } catch (error) {
      worker.close()
      throw error
    }
  }

  /** Begins that episode, once the step under way is done. */
  #begin(number: number): Promise<void> {
    return this.#exclusively(async () => {
      await this.#environment.begin(number)
      this.#number = number
      const { kind } = this.#chosen
      this.#played = new PlayedEpisode(this.#environment, { policy: kind, view: this.#configuration.view })
      partOf(this.#root, 'keep').hidden = true
      this.#draw()
    })
  }

  #exclusively(act: () => Promise<void>): Promise<void> {
    const done = this.#work.then(async () => {
      this.#busy = true
      try {
        await act()
      } finally {
        this.#busy = false
      }
    })
    this.#work = done.catch(() => {})
    return done
  }

  /** The same episode again, or the next. */
  async restart(by: 0 | 1): Promise<void> {
    const running = this.#running
    this.#pause()
    await this.#guarded(() => this.#begin(this.#number + by))
    this.toggle(running || (by === 1 && this.#chosen.kind !== 'person'))
  }

  /** Runs or pauses: the other players step by themselves, and for a person time runs. */
  toggle(running = !this.#running): void {
    if (!running) this.#pause()
    if (!running || this.#closed || this.#played.outcome !== null) return
    if (this.#chosen.kind === 'person' && !this.#panel.single) return
    this.#running = true
    this.#root.toggleAttribute('data-playing', true)
    this.#schedule()
  }

  /** One step of a player that is not a person. */
  async stepOnce(): Promise<void> {
    this.#pause()
    await this.#guarded(() => this.#tick())
  }

  /** Whether the key is one of the table's. */
  press(key: string): boolean {
    if (key === 'Escape') this.toggle()
    else if (key === 'n' || (key === 'Enter' && this.#played.outcome !== null)) void this.restart(1)
    else if (this.#chosen.kind === 'person') {
      const action = this.#panel.actionOf(key)
      if (action === null) return false
      if (this.#running) this.#held = { key, action }
      else void this.#act(action)
    } else return false
    return true
  }

  release(key: string): void {
    if (this.#held?.key === key) this.#held = null
  }

  async #act(action: number[]): Promise<void> {
    if (this.#chosen.kind !== 'person') return
    await this.#guarded(() => this.#step(action))
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    const perSecond = Number(partOf<HTMLSelectElement>(this.#root, 'speed').value)
    this.#timer = setTimeout(() => void this.#guarded(() => this.#tickAndGoOn()), 1000 / perSecond)
  }

  async #tickAndGoOn(): Promise<void> {
    await this.#tick()
    if (this.#played.outcome !== null) this.#pause()
    else if (this.#running) this.#schedule()
  }

  async #tick(): Promise<void> {
    const { buffers, description } = this.#environment
    if (this.#busy || this.#played.outcome !== null) return
    const [chosen, played] = [this.#chosen, this.#played]
    if (chosen.kind === 'person') {
      const action = this.#held?.action ?? this.#panel.idle()
      if (action !== null) await this.#step(action)
    } else if (chosen.kind === 'random') {
      chosen.actions.fillRow(buffers, 0)
      await this.#step(Array.from(buffers.actions))
    } else {
      const observation = Array.from(buffers.observations)
      const mask = description.masked ? Array.from(buffers.masks) : null
      const begins = this.#played.steps === 0
      const { action, likely } = await chosen.policy.decide({ observation, mask, begins })
      // Another episode may have begun meanwhile.
      if (played === this.#played) await this.#step(action, likely)
    }
  }

  async #step(action: number[], likely?: Parameters<PlayedEpisode['step']>[1]): Promise<void> {
    if (this.#busy || this.#played.outcome !== null) return
    await this.#exclusively(async () => {
      if (this.#played.outcome !== null) return
      await this.#played.step(action, likely)
      if (this.#played.outcome !== null) this.#score()
      this.#draw()
      if (this.#played.outcome !== null) this.#offerToKeep()
    })
  }

  #score(): void {
    const player = this.#chosen.kind === 'agent' ? this.#chosen.name : this.#chosen.kind
    const best = Math.max(this.#best.get(player) ?? Number.NEGATIVE_INFINITY, this.#played.total)
    this.#best.set(player, best)
    const cell = this.#root.querySelector(`[data-play-score="${CSS.escape(player)}"]`)
    cell?.replaceChildren(shortNumber(best))
  }

  #offerToKeep(): void {
    if (this.#chosen.kind !== 'person') return
    const { hash, keep } = this.#configuration
    offerToKeep(this.#root, { address: keep, hash, seed, episode: this.#number, actions: this.#played.actions })
  }

  #pause(): void {
    clearTimeout(this.#timer)
    this.#running = false
    this.#held = null
    this.#root.toggleAttribute('data-playing', false)
  }

  /** Shows an error, and stops; what the worker's own end says is reported by `onEnd`. */
  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (error) {
      if (error instanceof ScenarioFault) this.#onEnd(`The scenario failed: ${error.message}`)
      else if (!(error instanceof WorkerEnded)) this.#stopped(error instanceof Error ? error.message : 'It failed.')
    }
  }

  #stopped(why: string): void {
    this.#pause()
    this.#say(why)
  }

  #say(text: string): void {
    partOf(this.#root, 'now').replaceChildren(text)
  }

  #draw(): void {
    const { episode, view, steps, outcome } = this.#played
    const stage = partOf(this.#root, 'stage')
    if (view?.kind === 'transcript' && episode.scene === undefined) stage.replaceChildren(this.#transcript())
    else stage.replaceChildren(pictureNode(episodeFrame(episode, view, steps, { title: this.#configuration.name })))
    partOf(this.#root, 'return').replaceChildren(shortNumber(this.#played.total))
    partOf(this.#root, 'steps').replaceChildren(`${steps} / ${this.#environment.description.maxSteps}`)
    partOf(this.#root, 'episode').replaceChildren(String(this.#number + 1))
    this.#say(this.#sentence())
    const person = this.#chosen.kind === 'person'
    const step = partOf<HTMLButtonElement>(this.#root, 'step')
    step.hidden = person
    step.disabled = outcome !== null
    partOf(this.#root, 'run').replaceChildren(person ? 'Real time' : 'Run')
    const toggle = partOf<HTMLButtonElement>(this.#root, 'toggle')
    toggle.hidden = person && !this.#panel.single
    toggle.disabled = outcome !== null
    if (person && outcome === null) this.#panel.show(this.#environment.legal(this.#counts))
    else this.#panel.hide()
  }

  #sentence(): string {
    const { episode, outcome } = this.#played
    const step = episode.steps.at(-1)
    if (step === undefined) return this.#chosen.kind === 'person' ? 'Your move.' : 'Ready.'
    const last = `${actionName(episode, step.action)}, reward ${formatValue(step.reward)}.`
    if (outcome === null) return last
    const metrics = Object.entries(outcome.metrics).map(([name, value]) => `${name} ${formatValue(value)}`)
    const how = outcome.end === 'truncated' ? 'Time limit reached' : 'Episode over'
    return `${last} ${how}: return ${shortNumber(this.#played.total)}${metrics.length > 0 ? ` (${metrics.join(', ')})` : ''}. Press Enter for the next episode.`
  }

  #transcript(): HTMLElement {
    const { episode, view } = this.#played
    const log = element('div', { className: 'transcript play-transcript' })
    for (const text of transcriptTexts(episode))
      log.append(element('p', { className: 'transcript-text', dir: 'auto' }, text))
    if (view?.kind !== 'transcript') return log
    const calls = transcriptCalls(episode, view).map(({ action, reward, changes }) =>
      element(
        'li',
        { className: 'transcript-call' },
        element('span', { className: 'transcript-action' }, action),
        element('span', { className: 'transcript-reward' }, `${reward > 0 ? '+' : ''}${formatValue(reward)}`),
        element(
          'ul',
          { className: 'transcript-changes' },
          ...changes.map((change) => element('li', { dir: 'auto' }, change)),
        ),
      ),
    )
    log.append(element('ol', { className: 'transcript-calls' }, ...calls))
    return log
  }
}

function shortNumber(value: number): string {
  return formatValue(Number(value.toPrecision(4)))
}

async function textOf(address: string): Promise<string> {
  const response = await fetch(address)
  if (!response.ok) throw new Error('The page’s script could not be loaded. Reload the page.')
  return response.text()
}
