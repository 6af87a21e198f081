import type { Playback } from '@agentgym/pictures'

/** Draws the steps of a playback as they come, until `ended` is called at the last one. Returns a function that stops it. */
export function playFrames(playback: Playback, draw: (step: number) => void, ended: () => void): () => void {
  let drawn = -1
  let request = 0
  const frame = () => {
    const step = playback.stepAt(performance.now())
    if (step !== drawn) draw(step)
    drawn = step
    if (step < playback.last) request = requestAnimationFrame(frame)
    else ended()
  }
  request = requestAnimationFrame(frame)
  return () => cancelAnimationFrame(request)
}

/** Whether the visitor wants nothing to move by itself. */
export function prefersStillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches
}
