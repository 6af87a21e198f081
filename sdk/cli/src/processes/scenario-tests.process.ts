import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest, type TestCase, type TestModule } from 'vitest/node'
import type { TestOutcome, TestRun } from '../commands/scenario-test.ts'

// Of vitest and of Vite, as far as Vitest looks for them. It would look in the folders above, too.
const ownConfigs = ['vitest.config', 'vite.config'].flatMap((name) =>
  ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs'].map((ending) => `${name}.${ending}`),
)

/** The command's own `@agentgym/scenario`, which is also what it bundles into scenarios. */
const ownPackage = ['@agentgym/scenario', '@agentgym/scenario/testing'].map((name) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(import.meta.resolve(name)),
}))

const [folder, silent] = process.argv.slice(2)
const config = ownConfigs.map((name) => join(folder, name)).find((file) => existsSync(file)) ?? false
const vitest = await startVitest(
  'test',
  [],
  {
    root: folder,
    config,
    run: true,
    watch: false,
    // Nothing is left behind in the folder.
    cache: false,
    fsModuleCache: false,
    passWithNoTests: true,
    ...(silent === 'silent' ? { reporters: [], silent: true } : {}),
  },
  { resolve: { alias: ownPackage } },
)
const modules = vitest.state.getTestModules()
const run: TestRun = {
  files: modules.length,
  tests: modules.flatMap((module) => [...module.children.allTests()].map((test) => outcomeOf(test, module))),
  errors: [
    ...modules.flatMap((module) => module.errors().map((error) => ({ file: module.relativeModuleId, error }))),
    ...vitest.state.getUnhandledErrors().map((error) => ({ file: null, error: error as { message?: unknown } })),
  ].map(({ file, error }) => ({ file, message: String(error.message) })),
}
await vitest.close()
process.send?.(run, () => process.exit(0))

function outcomeOf(test: TestCase, module: TestModule): TestOutcome {
  const { state, errors } = test.result()
  const error = errors?.[0]
  const place = error?.stacks?.find(({ file }) => file.startsWith(folder) && !file.includes('/node_modules/'))
  return {
    file: module.relativeModuleId,
    name: test.fullName,
    state: state === 'passed' ? 'passed' : state === 'failed' ? 'failed' : 'skipped',
    ...(error === undefined ? {} : { message: error.message }),
    ...(place === undefined ? {} : { line: place.line, column: place.column }),
  }
}
