import { fullTier } from '@agentgym/testkit/tier'
import { beforeAll, describe, expect, test } from 'vitest'
import { scenarioWith } from './attacks/attack.ts'
import { harmless } from './attacks/tampering.ts'
import { buildText, runEnvironment } from './run-environment.ts'

describe('what a scenario does to the language leaves its own trajectory as it is', () => {
  let healthyHash: string
  beforeAll(async () => {
    healthyHash = await runEnvironment({ scenario: await buildText(scenarioWith('')) })
  })

  for (const [index, { name, entry }] of harmless.entries())
    test(name, { tags: index === 0 ? [] : fullTier }, async () => {
      expect(await runEnvironment({ scenario: await buildText(entry) })).toBe(healthyHash)
    })
})
