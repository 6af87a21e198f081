/** The test of a release under way: what has been tried and reported, and what is still to be done. */
import { createRng } from '@agentgym/scenario'
import { type Input, isAsExpected, type Screen, severityOf } from './application.ts'
import { NOTES, type Note, type Release } from './release.ts'
import { describeOutcome } from './wordings.ts'

export type Verdict = 'release' | 'hold_back'

export type Testing = {
  release: Release
  /** How many notes have been read; the first one is shown at once. */
  read: number
  /** What is being tested. */
  screen: Screen | null
  input: Input | null
  /** What the last test has shown, in words, and how often in a row it has failed. */
  result: string
  failures: number
  /** Screens that were opened. */
  opened: Set<Screen>
  /** Notes whose first test has been run, where a flaky test fails. */
  tried: Set<Note>
  /** Notes with a result that can be trusted: the test has passed, or its failure was reported. */
  covered: Set<Note>
  /** Notes whose fault was reported as what it is. */
  found: Set<Note>
  wrongReports: number
  /** Reports since the last note was read. */
  reportsOfNote: number
  reported: { minor: number; blocking: number }
  verdict: Verdict | null
}

export function startTesting(release: Release): Testing {
  return {
    release,
    ...{ read: 1, screen: null, input: null, result: '', failures: 0 },
    ...{ opened: new Set(), tried: new Set(), covered: new Set(), found: new Set() },
    ...{ wrongReports: 0, reportsOfNote: 0, reported: { minor: 0, blocking: 0 }, verdict: null },
  }
}

/** Runs the test of the open screen with the chosen input, and compares what it does with the specification. */
export function runTest(testing: Testing): void {
  const { release, screen, input, tried } = testing
  if (screen === null || input === null) return
  const { application } = release
  const note = noteUnderTest(testing)
  const glitch = note === undefined || tried.has(note) ? null : note.glitch
  const outcome = application.submit(screen, input, glitch)
  const expected = application.expected(screen, input)
  const passed = isAsExpected(outcome, expected)
  testing.failures = passed ? 0 : testing.failures + 1
  testing.result = describeOutcome(outcome, expected, createRng(application.limitOf(screen) + testing.failures))
  if (note === undefined) return
  tried.add(note)
  if (passed) testing.covered.add(note)
}

/** Leaves the screen, and with it the test. */
export function closeScreen(testing: Testing): void {
  testing.screen = null
  testing.input = null
  testing.result = ''
  testing.failures = 0
}

/** The note that was read last. */
export function currentNote({ release, read }: Testing): Note | undefined {
  return release.notes[read - 1]
}

/** The note that the last test was for, if it was for one. */
export function noteUnderTest({ release, screen, input }: Testing): Note | undefined {
  return release.notes.find((note) => note.screen === screen && note.input === input)
}

/** Notes that have been read and not tested. */
export function notesToTest({ release, read, covered }: Testing): Note[] {
  return release.notes.slice(0, read).filter((note) => !covered.has(note))
}

export function dueVerdict({ notes }: Release): Verdict {
  const blocked = notes.some(({ fault }) => fault !== null && severityOf(fault.kind, fault.screen) === 'blocking')
  return blocked ? 'hold_back' : 'release'
}

/** Whether everything that was changed has been tested, and every fault reported, with nothing reported that is none. */
export function isComplete({ release, covered, found, wrongReports }: Testing): boolean {
  const faults = release.notes.filter(({ fault }) => fault !== null).length
  return covered.size === NOTES && found.size === faults && wrongReports === 0
}
