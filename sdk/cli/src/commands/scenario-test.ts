import { fork } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'
import { readScenarioPackage } from '@agentgym/runtime/scenario-package'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/scenarios.ts'
import { safeText, shellQuote } from '../terminal/text.ts'

/** `agentgym scenario test`. */
export function addScenarioTest(scenario: Command, action: MakeAction): void {
  scenario
    .command('test')
    .argument('[DIR]', 'scenario folder', '.')
    .description("run the scenario's own vitest tests, outside the sandbox; exits with 1 if any fails")
    .option('--update', 'record golden trajectories again (expectGolden)')
    .action(action(scenarioTest))
}

export type TestOutcome = {
  /** Relative to the scenario's folder. */
  file: string
  name: string
  state: 'passed' | 'failed' | 'skipped'
  /** Why it failed, and where in the test or the scenario. */
  message?: string
  line?: number
  column?: number
}

/** From the process that runs the tests. */
export type TestRun = {
  files: number
  tests: TestOutcome[]
  /** Failures outside of tests: a file that does not load, for example. */
  errors: { file: string | null; message: string }[]
}

const runner = fileURLToPath(new URL('../processes/scenario-tests.process.ts', import.meta.url))

/**
 * Runs the tests with the command's own Vitest and `@agentgym/scenario`, so that a folder needs no node_modules. They are the
 * author's code on the author's machine, and run as `npm test` would run them.
 */
async function scenarioTest(target: string, flags: { update?: boolean }, context: CommandContext): Promise<void> {
  const folder = realpathSync(await resolveScenarioFolder(target, context))
  const { name, version } = readScenarioPackage(folder)
  const run = await runTests(folder, flags.update === true, context)
  const { tests, errors } = run
  const count = (state: TestOutcome['state']) => tests.filter((test) => test.state === state).length
  const ok = run.files > 0 && errors.length === 0 && count('failed') === 0
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
  context.printJson({ ok, name, version, files: run.files, ...counts, tests, errors })
  if (!ok) context.exitCode = 1
  const { paint, symbols } = context.terminal
  const path = shellQuote(context.displayPath(folder))
  if (run.files === 0) {
    context.print(`${paint.fail(symbols.failed)} No tests found in ${safeText(context.displayPath(folder))}`)
    context.print(`${symbols.next} Add src/index.test.ts; a folder of \`agentgym scenario init\` has one.`)
  } else if (ok) {
    context.print(`${symbols.next} Check it in the sandbox: ${paint.accent(`agentgym scenario check ${path}`)}`)
  }
}

/** Vitest writes its report for people to stdout itself. */
async function runTests(folder: string, update: boolean, { io, json, terminal }: CommandContext): Promise<TestRun> {
  const child = fork(runner, [folder, json ? 'silent' : 'report'], {
    cwd: folder,
    env: {
      ...io.environment,
      AGENTGYM_UPDATE_GOLDEN: update ? '1' : '0',
      ...(terminal.color ? { FORCE_COLOR: '1' } : { NO_COLOR: '1', FORCE_COLOR: undefined }),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let run: TestRun | undefined
  child.on('message', (message) => {
    run = message as TestRun
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4000)
      if (!json) io.stdout.write(text)
    })
  }
  // Ctrl-C reaches the tests from the terminal; SIGTERM from elsewhere does not.
  const release = io.onInterrupt(() => child.kill())
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).finally(release)
  if (run !== undefined) return run
  const missing = output.includes("Cannot find package 'vitest'")
  throw new AgentGymError({
    code: 'scenario_tests_not_run',
    message: `The tests of ${folder} did not run: Vitest ended with status ${status ?? 'none'}.`,
    hint: missing
      ? 'This installation of agentgym has no Vitest. Run `npm install` and `npm test` in the folder, or install agentgym again.'
      : 'Its output says why. `npm install && npm test` in the folder runs the same tests.',
    data: { path: folder, output: json ? output : undefined },
  })
}
