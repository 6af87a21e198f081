// node infra/setup/run-tests.ts [--checks | --full | --long] [FILTER…]
// Types, lint and format, then tests of the quick tier. It ends with the slowest files, a line `failed: …` for each failure
// and, last, `N passed, N failed`, where each check counts as one. CONTRIBUTING.md says what is in which tier.
//   --checks   only the tests of the repository's own rules (infra/checks)
//   --full     only what the quick tier leaves out
//   --long     all tests, in the variants that take minutes each
//   FILTER     only test files whose path contains it
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

type Outcome = { passed: number; failures: string[] }

/** What vitest's JSON reporter writes, as far as it is read here. Times are in milliseconds. */
type VitestReport = {
  testResults: {
    name: string
    status: string
    startTime: number
    endTime: number
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
  }[]
}

const slowestShown = 15

const { values, positionals } = parseArgs({
  options: {
    checks: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
process.env.AGENTGYM_TEST_TIER = values.full ? 'full' : values.long ? 'all' : 'quick'
if (values.long) process.env.AGENTGYM_TEST_LONG = '1'

const checks = values.full
  ? []
  : [
      runCheck('types', 'tsc', ['--noEmit']),
      // Islands run in browsers: they have a document, and no Node.
      runCheck('types of islands', 'tsc', ['--noEmit', '-p', 'web/src/islands']),
      runCheck('types of the player', 'tsc', ['--noEmit', '-p', 'sdk/cli/src/rendering/player']),
      runCheck('lint and format', 'biome', ['check', '--error-on-warnings']),
    ]
const outcomes = [...checks, runTests(values.checks ? ['infra/checks'] : positionals)]
const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
const failures = outcomes.flatMap((outcome) => outcome.failures)
// Repeated at the end, for readers who see only the last lines of a long log.
for (const failure of failures) console.log(`failed: ${failure}`)
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length > 0 ? 1 : 0

function runCheck(name: string, command: string, parameters: string[]): Outcome {
  const started = performance.now()
  const { status, error } = spawnSync(command, parameters, { stdio: ['ignore', 'inherit', 'inherit'] })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✗'} ${name}, ${seconds} s${error ? ` (${error.message})` : ''}`)
  return status === 0 ? { passed: 1, failures: [] } : { passed: 0, failures: [name] }
}

function runTests(filters: string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-tests-'))
  const report = join(folder, 'report.json')
  try {
    const parameters = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters]
    const { status } = spawnSync('vitest', parameters, { stdio: ['ignore', 'inherit', 'inherit'] })
    const outcome = readReport(report)
    // Errors outside any test (an unhandled rejection, a dead worker) fail the run without failing a test.
    if (status !== 0 && outcome.failures.length === 0) outcome.failures.push('an error outside the tests, see above')
    return outcome
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readReport(report: string): Outcome {
  let files: VitestReport['testResults']
  try {
    files = (JSON.parse(readFileSync(report, 'utf8')) as VitestReport).testResults
  } catch (error) {
    return { passed: 0, failures: [`vitest left no report: ${error}`] }
  }
  printSlowest(files)
  const outcome: Outcome = { passed: 0, failures: [] }
  for (const file of files) {
    const path = relative(process.cwd(), file.name)
    const failed = file.assertionResults.filter(({ status }) => status === 'failed')
    outcome.passed += file.assertionResults.filter(({ status }) => status === 'passed').length
    outcome.failures.push(
      ...failed.map(({ fullName, failureMessages }) => `${path}: ${fullName}${firstLine(failureMessages)}`),
    )
    // A file that could not be loaded fails without a failed test in it.
    if (file.status === 'failed' && failed.length === 0) outcome.failures.push(`${path} as a whole`)
  }
  return outcome
}

/** What went wrong, for readers who see only the last lines of a log. */
function firstLine(failureMessages: string[] | undefined): string {
  const line = failureMessages?.[0]?.split('\n')[0]?.slice(0, 300)
  return line ? ` (${line})` : ''
}

/** Where the time went: what to look at when a tier takes longer than CONTRIBUTING.md says. */
function printSlowest(files: VitestReport['testResults']): void {
  const seconds = (file: VitestReport['testResults'][number]) => (file.endTime - file.startTime) / 1000
  const slowest = files.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, slowestShown)
  if (files.length <= slowestShown) return
  console.log('The slowest files, in seconds:')
  for (const file of slowest)
    console.log(`${seconds(file).toFixed(1).padStart(7)}  ${relative(process.cwd(), file.name)}`)
}
