/**
 * QA testing: read what a release has changed, try it out, tell faults from flaky tests, report bugs with their kind and severity,
 * and release it or hold it back. A fault shows only on the right screen with the right input.
 */
import { box, choice, defineToolScenario, dict, oneHot, taskRng, text, tool } from '@agentgym/scenario'
import {
  type Input,
  inputs,
  type Kind,
  kinds,
  type Screen,
  type Severity,
  screens,
  severities,
  severityOf,
} from './application.ts'
import { drawTesting } from './draw-testing.ts'
import { generateRelease, NOTES } from './release.ts'
import {
  closeScreen,
  currentNote,
  dueVerdict,
  isComplete,
  notesToTest,
  noteUnderTest,
  runTest,
  startTesting,
  type Testing,
  type Verdict,
} from './testing.ts'

const MAX_CALLS = 18
const TRAIN_RELEASES = 100_000
const HELD_OUT_RELEASES = 1_000_000_000

export default defineToolScenario({
  observation: dict({
    /** The release note that was read last. */
    note: text({ maxTokens: 20, vocabulary: 2048 }),
    /** What the last test has shown. */
    result: text({ maxTokens: 12, vocabulary: 2048 }),
    facts: box({ shape: [screens.length + inputs.length + 8] }),
  }),
  maxSteps: MAX_CALLS,
  tasks: { train: TRAIN_RELEASES, eval: HELD_OUT_RELEASES },
  rewards: { right: 0.3, wrong: -0.1, tokenSaving: 0.5, timeSaving: 0.5 },
  /** A tester who goes through a list of test cases for half an hour. */
  baselines: { tokens: 4000, seconds: 1800 },

  start: ({ task }): Testing => startTesting(generateRelease(task.split, taskRng(task, TRAIN_RELEASES))),

  tools: {
    read_note: {
      description: 'Read the next release note',
      cost: { tokens: 80, seconds: 5 },
      run(testing) {
        const right = notesToTest(testing).length === 0
        testing.read += 1
        testing.reportsOfNote = 0
        closeScreen(testing)
        return { right }
      },
    },
    open_screen: tool({
      description: 'Open a screen of the application',
      parameters: { screen: choice(screens) },
      cost: { tokens: 60, seconds: 6 },
      run: openScreen,
    }),
    submit: tool({
      description:
        'Fill the form of the open screen in and send it: an ordinary value, the highest, an invalid one, or one twice',
      parameters: { input: choice(inputs) },
      cost: { tokens: 90, seconds: 15 },
      run(testing: Testing, { input }: { input: Input }) {
        testing.input = input
        const right = notesToTest(testing).some((note) => note === noteUnderTest(testing))
        runTest(testing)
        return { right }
      },
    }),
    repeat: {
      description: 'Run the failed test again',
      cost: { tokens: 60, seconds: 15 },
      run(testing) {
        const right = testing.failures === 1
        runTest(testing)
        return { right }
      },
    },
    report: tool({
      description: 'Report what has failed on the open screen as a bug, with its kind and severity',
      parameters: { kind: choice(kinds), severity: choice(severities) },
      cost: { tokens: 200, seconds: 20 },
      run: report,
    }),
    release: {
      description: 'Release the application to its users',
      cost: { tokens: 60, seconds: 5 },
      run: (testing) => decide(testing, 'release'),
    },
    hold_back: {
      description: 'Hold the release back',
      cost: { tokens: 60, seconds: 5 },
      run: (testing) => decide(testing, 'hold_back'),
    },
  },

  observe(testing, { step }) {
    const { screen, input, failures, read, result, reportsOfNote, reported } = testing
    return {
      note: currentNote(testing)?.text ?? '',
      result,
      facts: [
        ...oneHot(screens, screen),
        ...oneHot(inputs, input),
        read / NOTES,
        Number(failures === 1),
        Number(failures > 1),
        // Passed.
        Number(input !== null && failures === 0),
        Math.min(1, reportsOfNote),
        reported.minor / NOTES,
        reported.blocking / NOTES,
        step / MAX_CALLS,
      ],
    }
  },

  available({ read, screen, input, failures }) {
    if (failures > 0) return ['repeat', 'report']
    if (screen !== null && input === null) return ['submit']
    return ['open_screen', ...(read < NOTES ? (['read_note'] as const) : (['release', 'hold_back'] as const))]
  },

  oracle(testing) {
    const { release, read, screen, input, failures } = testing
    if (failures === 1) return { tool: 'repeat' }
    const fault = noteUnderTest(testing)?.fault
    if (failures > 1 && fault) {
      return { tool: 'report', arguments: { kind: fault.kind, severity: severityOf(fault.kind, fault.screen) } }
    }
    const [note] = notesToTest(testing)
    if (note === undefined) return { tool: read < NOTES ? 'read_note' : dueVerdict(release) }
    return screen === note.screen && input === null
      ? { tool: 'submit', arguments: { input: note.input } }
      : { tool: 'open_screen', arguments: { screen: note.screen } }
  },

  outcome(testing) {
    const { verdict, release } = testing
    if (verdict === null) return -1
    if (verdict !== dueVerdict(release)) return -2
    return isComplete(testing) ? 4 : 0
  },

  metrics({ release, verdict, covered, found, wrongReports }) {
    const faults = release.notes.filter(({ fault }) => fault !== null).length
    const due = dueVerdict(release)
    const badRelease = verdict === 'release' && due !== 'release'
    const needlessHold = verdict === 'hold_back' && due === 'release'
    return {
      covered: covered.size / NOTES,
      found: faults === 0 ? 1 : found.size / faults,
      wrong_reports: wrongReports,
      bad_release: badRelease ? 1 : 0,
      needless_hold: needlessHold ? 1 : 0,
      harmless: badRelease || needlessHold ? 0 : 1,
    }
  },

  render: drawTesting,
})

function openScreen(testing: Testing, { screen }: { screen: Screen }) {
  // A screen that has to be opened again was tested with the wrong input.
  const right = !testing.opened.has(screen) && notesToTest(testing).some((note) => note.screen === screen)
  closeScreen(testing)
  testing.opened.add(screen)
  testing.screen = screen
  return { right }
}

function report(testing: Testing, { kind, severity }: { kind: Kind; severity: Severity }) {
  const note = noteUnderTest(testing)
  testing.reported[severity] += 1
  testing.reportsOfNote += 1
  closeScreen(testing)
  const fault = note?.fault ?? null
  if (note === undefined || fault === null || testing.covered.has(note)) {
    testing.wrongReports += 1
    return { right: false, reward: -0.2 }
  }
  testing.covered.add(note)
  const rightKind = fault.kind === kind
  const rightSeverity = severityOf(fault.kind, fault.screen) === severity
  const right = rightKind && rightSeverity
  if (right) testing.found.add(note)
  else testing.wrongReports += 1
  return { right, reward: 0.1 + (rightKind ? 0.2 : 0) + (rightSeverity ? 0.1 : 0) }
}

function decide(testing: Testing, verdict: Verdict) {
  testing.verdict = verdict
  return { done: true }
}
