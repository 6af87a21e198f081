// node infra/setup/run-tests.ts [--checks | --full | --long] [FILTER…]
// Types, lint and format, then tests of the quick tier; the last line is `N passed, N failed`, where each check counts as
// one. CONTRIBUTING.md says what is in which tier.
//   --checks   only the tests of the repository's own rules (infra/checks)
//   --full     only what the quick tier leaves out
//   --long     all tests, in the variants that take minutes each
//   FILTER     only test files whose path contains it
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

type Counts = { passed: number; failed: number }

/** What vitest's JSON reporter writes, as far as it is counted here. */
type VitestReport = { testResults: { status: string; message: string; assertionResults: { status: string }[] }[] }

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
const counts = [...checks, runTests(values.checks ? ['infra/checks'] : positionals)]
const passed = counts.reduce((sum, part) => sum + part.passed, 0)
const failed = counts.reduce((sum, part) => sum + part.failed, 0)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

function runCheck(name: string, command: string, parameters: string[]): Counts {
  const started = performance.now()
  const { status, error } = spawnSync(command, parameters, { stdio: ['ignore', 'inherit', 'inherit'] })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✗'} ${name}, ${seconds} s${error ? ` (${error.message})` : ''}`)
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

function runTests(filters: string[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-tests-'))
  const report = join(folder, 'report.json')
  try {
    const parameters = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters]
    const { status } = spawnSync('vitest', parameters, { stdio: ['ignore', 'inherit', 'inherit'] })
    const tests = countTests(report)
    // Errors outside any test (an unhandled rejection, a dead worker) fail the run without failing a test.
    if (status !== 0 && tests.failed === 0) tests.failed = 1
    return tests
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function countTests(report: string): Counts {
  let results: VitestReport['testResults']
  try {
    results = (JSON.parse(readFileSync(report, 'utf8')) as VitestReport).testResults
  } catch (error) {
    console.error(`vitest left no report: ${error}`)
    return { passed: 0, failed: 1 }
  }
  const counts = { passed: 0, failed: 0 }
  for (const file of results) {
    const failures = file.assertionResults.filter(({ status }) => status === 'failed').length
    counts.passed += file.assertionResults.filter(({ status }) => status === 'passed').length
    // A file that could not be loaded fails without a failed test in it.
    counts.failed += file.status === 'failed' ? Math.max(failures, 1) : failures
  }
  return counts
}
