import { partOf } from './elements.ts'
import { ScenarioFault } from './guest-environment.ts'
import { type PlayConfiguration, PlayTable } from './play-table.ts'
import { WorkerEnded } from './sandboxed-worker.ts'

/** The table in play; null before the first, and after one has ended. */
let table: PlayTable | null = null

/** Opens the play that the page describes, or opens it again after its end. */
export async function startPlay(root: HTMLElement): Promise<void> {
  const configuration: PlayConfiguration = JSON.parse(root.dataset.play ?? '{}')
  if (!root.hasAttribute('data-ready')) listen(root)
  root.toggleAttribute('data-ready', true)
  partOf(root, 'ended').hidden = true
  partOf<HTMLSelectElement>(root, 'player').value = 'person'
  try {
    table = await PlayTable.open(root, configuration, (why) => end(root, why))
    root.querySelector('[data-play-part="start"]')?.remove()
    partOf(root, 'controls').hidden = false
    partOf(root, 'stage').focus()
  } catch (error) {
    if (error instanceof WorkerEnded) return
    const why = error instanceof Error ? error.message : 'no reason given'
    end(root, error instanceof ScenarioFault ? `The scenario failed: ${why}` : `The play could not start: ${why}`)
  }
}

/** The page goes on without the play, and offers to start it again. */
function end(root: HTMLElement, why: string): void {
  table?.close()
  table = null
  root.querySelector('[data-play-part="start"]')?.remove()
  partOf(root, 'controls').hidden = true
  partOf(root, 'actions').replaceChildren()
  partOf(root, 'why').replaceChildren(why)
  partOf(root, 'ended').hidden = false
  partOf(root, 'again').focus()
}

function listen(root: HTMLElement): void {
  const on = (part: string, act: (table: PlayTable) => unknown) =>
    partOf(root, part).addEventListener('click', () => table !== null && void act(table))
  on('toggle', (playing) => playing.toggle())
  on('step', (playing) => playing.stepOnce())
  on('restart', (playing) => playing.restart(0))
  on('next', (playing) => playing.restart(1))
  partOf(root, 'again').addEventListener('click', () => void startPlay(root))
  const player = partOf<HTMLSelectElement>(root, 'player')
  player.addEventListener('change', async () => {
    try {
      await table?.choose(player.value)
    } catch (error) {
      player.value = 'person'
      await table?.choose('person')
      partOf(root, 'now').replaceChildren(error instanceof Error ? error.message : 'The agent could not be loaded.')
    }
  })
  root.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event
    if (table === null || ctrlKey || metaKey || altKey || isField(target, key)) return
    if (table.press(key)) event.preventDefault()
  })
  root.addEventListener('keyup', ({ key }) => table?.release(key))
}

/** Whether the key belongs to the element that has the focus. */
function isField(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('input, select, textarea')) return true
  return target.matches('button, a, summary') && (key === ' ' || key === 'Enter')
}
