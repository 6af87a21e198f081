import { defaultServerConditions } from 'vite'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // The site as it is written, not as it was last built. Without `module`, which names code for bundlers that Node cannot load.
  ssr: {
    resolve: { conditions: ['source', ...defaultServerConditions.filter((condition) => condition !== 'module')] },
  },
  test: {
    include: ['{sdk,runtime,registry,plugins,web,infra}/**/*.test.{ts,tsx}'],
    // Pictures carry these rules with them; other styles mean nothing to a test.
    css: { include: /\/styles\/(tokens|pictures)\.css/ },
    globalSetup: ['registry/src/testing/global-setup.ts'],
    // isolated-vm and the learner are native: a crash must end one file's process, never the run.
    pool: 'forks',
    execArgv: ['--no-node-snapshot'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
