import { freshParts } from '../nodes/dom.ts'
import { partOf } from './elements.ts'

/** A whole episode of the visitor. */
type OwnEpisode = {
  /** Where it is kept; null unless logged in. */
  address: string | null
  /** SHA-256 (hex) of the scenario's bundle. */
  hash: string
  seed: number
  episode: number
  actions: readonly (readonly number[])[]
}

const pollMs = 2_000
/** A worker that is free takes seconds; after that, the page must be reloaded. */
const mostPolls = 15

/** Shows the button that keeps an episode, or the way to log in. */
export function offerToKeep(root: HTMLElement, { address, ...episode }: OwnEpisode): void {
  partOf(root, 'keep').hidden = false
  if (address === null) return
  const said = partOf(root, 'kept')
  said.replaceChildren(said.dataset.usual ?? '')
  const button = partOf<HTMLButtonElement>(root, 'keep-button')
  button.hidden = false
  button.disabled = false
  button.onclick = () => void keep(root, { address, ...episode })
}

/** Sends the actions alone: the server plays them again, and computes the score. */
async function keep(root: HTMLElement, { address, ...episode }: OwnEpisode & { address: string }): Promise<void> {
  const button = partOf<HTMLButtonElement>(root, 'keep-button')
  const say = (text: string) => partOf(root, 'kept').replaceChildren(text)
  button.disabled = true
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(episode) })
    if (!response.ok) throw new Error((await response.json()).error.message)
    button.hidden = true
    say('Kept. A worker is replaying it to compute the score.')
    if (await follow(root.closest<HTMLElement>('.play-page') ?? root)) say('Kept. Its score is in the list below.')
  } catch (error) {
    button.disabled = false
    say(error instanceof Error ? error.message : 'The episode was not kept. Try again.')
  }
}

/** Updates the list of kept episodes until all have been replayed. False if that takes too long. */
async function follow(page: HTMLElement): Promise<boolean> {
  for (let poll = 0; poll < mostPolls; poll++) {
    await freshParts(page, location.href)
    if (page.querySelector('[data-checking]') === null) return true
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  return false
}
