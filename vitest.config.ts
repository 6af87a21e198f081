import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { fullTier, tier } from './testkit/src/tier.ts'

const include = ['{sdk,runtime,registry,plugins,web,testkit,infra}/**/*.test.{ts,tsx}']
const exclude = ['**/node_modules/**']

/** Files without a test of the tier that runs: they need not even be loaded. */
function filesOfTheOtherTier(): string[] {
  const of = {
    all: () => true,
    quick: (text: string) => !/^\/\/ @module-tag full$/m.test(text),
    full: (text: string) => /^\/\/ @module-tag full$|\bfullTier\b|\btestAttacks\(/m.test(text),
  }[tier]
  return globSync(include, { cwd: import.meta.dirname, exclude }).filter((path) => !of(readFileSync(path, 'utf8')))
}

const left = [...exclude, ...filesOfTheOtherTier()]

/**
 * Rooms whose files follow each other in one process: what one has imported, compiled and warmed up is there for the
 * next, and that is half of what most of them cost. A crash still ends its own file alone; the next has a new process.
 */
const shared = ['registry/src/**/*.test.ts', 'web/{src,test}/**/*.test.{ts,tsx}']

/** What takes longest comes first, so that no core is idle at the end. A clean checkout remembers no durations. */
const longest = ['runtime/test/learning/', 'infra/e2e/', 'sdk/cli/test/', 'registry/test/', 'runtime/test/', 'plugins/']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((folder) => moduleId.includes(`/${folder}`))
      return place === -1 ? longest.length : place
    }
    // Stable: what it leaves equal stays as vitest has it, which is isolated files first, then shared ones, large to small.
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  // The site as it is written, not as it was last built. Without `module`, which names code for bundlers that Node cannot load.
  ssr: {
    resolve: {
      conditions: ['agentgym-source', ...defaultServerConditions.filter((condition) => condition !== 'module')],
    },
  },
  test: {
    // Pictures carry these rules with them; other styles mean nothing to a test.
    css: { include: /\/styles\/(tokens|colors|pictures)\.css/ },
    globalSetup: ['testkit/src/global-setup.ts'],
    // isolated-vm and the learner are native: a crash must end one file's process, never the run.
    pool: 'forks',
    execArgv: ['--no-node-snapshot'],
    // Where the set-up puts the models of text encoders; what is missing is downloaded by the first test that needs it.
    env: {
      AGENTGYM_ENCODERS:
        process.env.AGENTGYM_ENCODERS ?? join(import.meta.dirname, 'node_modules/.cache/agentgym/encoders'),
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // One more in the full tier, whose tests wait half of the time: for timeouts, restarts and clients of their own.
    maxWorkers: availableParallelism() + (tier === 'full' ? 1 : 0),
    tags: [{ name: fullTier, description: 'Runs by `npm run test:full`, not by `npm test`.' }],
    ...(tier === 'all' ? {} : { tagsFilter: [tier === 'full' ? fullTier : `!${fullTier}`] }),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'isolated',
          include,
          exclude: [...left, ...shared],
        },
      },
      {
        extends: true,
        test: { name: 'shared', include: shared, exclude: left, isolate: false },
      },
    ],
  },
})
