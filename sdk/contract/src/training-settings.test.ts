import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { algorithmSettings, trainingAlgorithms } from './training-settings.ts'

const page = readFileSync(new URL('../../../docs/training.md', import.meta.url), 'utf8')

/** Rows `| name | default | … |` below a heading. */
function rowsBelow(heading: string): Map<string, string> {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return new Map(
    Array.from(section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm), ([, name, fallback]) => [name, fallback.trim()]),
  )
}

describe('docs/training.md', () => {
  const common = rowsBelow('Settings of both')
  const own = { ppo: rowsBelow('Settings of PPO'), grpo: rowsBelow('Settings of GRPO') }

  it.each(trainingAlgorithms)('has every setting of %s with its default, and no other', (algorithm) => {
    const defaults = Object.entries(algorithmSettings[algorithm].schema.parse({}))
    const rows = new Map([...common, ...own[algorithm]])
    expect([...rows.keys()].sort()).toEqual(defaults.map(([name]) => name).sort())
    for (const [name, value] of defaults) {
      const told = rows.get(name) ?? ''
      const apart = new RegExp(`${algorithm} ([^,]+)`).exec(told)
      expect(apart?.[1] ?? told, name).toBe(JSON.stringify(value))
    }
  })

  it('has every other name that a setting goes by', () => {
    for (const { aliases } of Object.values(algorithmSettings)) {
      for (const alias of Object.keys(aliases)) expect(page).toContain(`\`${alias}\``)
    }
  })
})
