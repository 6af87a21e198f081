/** A release to be tested: its notes, the faults that it has, and the tests that go wrong once without one. */
import type { Rng } from '@agentgym/scenario'
import { Application, type Fault, type Input, type Kind, kinds, type Screen, screens, shownBy } from './application.ts'
import { writeNote } from './wordings.ts'

export const NOTES = 2

export type Note = {
  text: string
  /** What it has changed, and how that is tested. */
  screen: Screen
  input: Input
  fault: Fault | null
  /** What goes wrong at the first test without being a fault. */
  glitch: Kind | null
}

export type Release = { application: Application; notes: readonly Note[] }

export function generateRelease(split: 'train' | 'eval', rng: Rng): Release {
  const touched = rng.shuffle([...screens]).slice(0, NOTES)
  const notes = touched.map((screen): Note => {
    const kind = rng.pick(kinds)
    const input = rng.pick(shownBy[kind])
    const state = rng.int(20)
    // Half of the changes are faulty, a quarter goes wrong once.
    const fault = state < 10 ? { kind, screen, input } : null
    const glitch = state >= 10 && state < 15 ? kind : null
    return { text: writeNote(screen, input, split, rng), screen, input, fault, glitch }
  })
  const limits = Object.fromEntries(screens.map((screen) => [screen, 10 + rng.int(190)])) as Record<Screen, number>
  const faults = notes.flatMap(({ fault }) => (fault === null ? [] : [fault]))
  return { application: new Application(limits, faults), notes }
}
