import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

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
    resolve: { conditions: ['source', ...defaultServerConditions.filter((condition) => condition !== 'module')] },
  },
  test: {
    // Pictures carry these rules with them; other styles mean nothing to a test.
    css: { include: /\/styles\/(tokens|pictures)\.css/ },
    globalSetup: ['registry/src/testing/global-setup.ts'],
    // isolated-vm and the learner are native: a crash must end one file's process, never the run.
    pool: 'forks',
    execArgv: ['--no-node-snapshot'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ['{sdk,runtime,registry,plugins,web,infra}/**/*.test.{ts,tsx}'],
          exclude: ['**/node_modules/**', ...shared],
        },
      },
      { extends: true, test: { name: 'shared', include: shared, isolate: false } },
    ],
  },
})
