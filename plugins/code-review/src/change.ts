/** A change of code that waits for review: its files, the faults in them, and how its checks turn out. */
import { drawFailures, type Failures, type Rng } from '@agentgym/scenario'
import { type Hunk, isSerious, type Kind, kinds, type Split, writeHunk } from './hunks.ts'

export const FILES = 4

/** What a file holds: only source has to be read; a list of dependencies is for the audit, and generated files are for tools. */
export const contents = ['source', 'dependencies', 'generated'] as const
export type Content = (typeof contents)[number]

export type File = {
  name: string
  content: Content
  hunk: Hunk
  /** The fault in it, if any. */
  fault: Kind | null
}

export type Change = {
  /** Sources first. */
  files: readonly File[]
  /** Whether it raises the major version, so that its interface may break. */
  majorVersion: boolean
  testsPass: boolean
  /** Whether the tests run its lines. */
  covered: boolean
  /** Whether a dependency has a known vulnerability. */
  vulnerable: boolean
  /** Tests that fail once although they pass; and checks that time out once. */
  flaky: Failures<'run_tests'>
  timeouts: Failures<'run_tests' | 'audit_dependencies'>
}

export function generateChange(split: Split, rng: Rng): Change {
  const sources = 2 + rng.int(FILES - 2)
  const faults = rng.int(sources + 1)
  const faulty = rng.shuffle(Array.from({ length: sources }, (_, i) => i < faults))
  const majorVersion = rng() < 0.3
  const hasDependencies = sources < FILES && rng() < 0.6
  const files = Array.from({ length: FILES }, (_, slot): File => {
    if (slot < sources) return sourceFile(slot, faulty[slot], majorVersion, split, rng)
    if (hasDependencies && slot === sources) {
      const hunk = { before: '"json": "2.8"', after: '"json": "2.31"' }
      return { name: 'build.json', content: 'dependencies', hunk, fault: null }
    }
    const hunk = { before: '', after: '// generated, do not edit' }
    return { name: `generated_${slot}.scala`, content: 'generated', hunk, fault: null }
  })
  const testsPass = rng() < 0.9
  return {
    files,
    majorVersion,
    testsPass,
    covered: rng() < 0.9,
    vulnerable: hasDependencies && rng() < 0.3,
    flaky: testsPass ? drawFailures({ run_tests: 0.25 }, rng) : {},
    timeouts: drawFailures({ run_tests: 0.1, audit_dependencies: 0.1 }, rng),
  }
}

function sourceFile(slot: number, faulty: boolean, majorVersion: boolean, split: Split, rng: Rng): File {
  const subject = rng.pick(kinds)
  const hunk = writeHunk(subject, faulty, split, rng)
  // A new major version may break the interface.
  const fault = faulty && !(subject === 'breaking_change' && majorVersion) ? subject : null
  return { name: `source_${slot + 1}.scala`, content: 'source', hunk, fault }
}

/** Whether the change must not be merged as it is. */
export function mustBeHeldBack({ files, testsPass, covered, vulnerable }: Change): boolean {
  return !testsPass || !covered || vulnerable || files.some(({ fault }) => fault !== null && isSerious(fault))
}

export function hasDependencies({ files }: Change): boolean {
  return files.some(({ content }) => content === 'dependencies')
}
