/**
 * Which tests run. `npm test` runs those of the quick tier, `npm run test:full` the others, vitest by hand all of them.
 * A test belongs to the quick tier unless it is tagged: `it('…', { tags: fullTier }, …)`, the same on a `describe`, or a
 * line `// @module-tag full` at the top of its file.
 */
export type Tier = 'quick' | 'full' | 'all'

export const tier: Tier = readTier(process.env.AGENTGYM_TEST_TIER)

export const fullTier = 'full'

/** Long variants of tests, which take minutes each: `npm run test:long`. */
export const isLong = !['', '0', undefined].includes(process.env.AGENTGYM_TEST_LONG)

function readTier(value: string | undefined): Tier {
  if (value === undefined || value === '') return 'all'
  if (value === 'quick' || value === 'full' || value === 'all') return value
  throw new Error(`AGENTGYM_TEST_TIER is ${value}; it can be quick, full or all`)
}
