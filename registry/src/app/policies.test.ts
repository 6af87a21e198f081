import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '@agentgym/testkit/run-folder'
import { expect, it } from 'vitest'
import { readPolicies } from './policies.ts'

it('policies are rendered without markup that could run; a missing one is null', async () => {
  const folder = await mkdtemp(join(runFolder(), 'policies-'))
  await writeFile(join(folder, 'terms.md'), '# Our terms\n\n<script>alert(1)</script>\n\nBe *kind*.\n')
  const policies = await readPolicies({ folder, chosen: true })
  expect(policies.terms).toContain('Our terms</h1>')
  expect(policies.terms).toContain('<em>kind</em>')
  expect(policies.terms).not.toContain('<script')
  expect(policies).toMatchObject({ privacy: null, 'acceptable-use': null })
})

it('a missing folder is an error only if a setting names it', async () => {
  const folder = join(runFolder(), 'no-such-policies')
  expect(await readPolicies({ folder, chosen: false })).toEqual({ terms: null, privacy: null, 'acceptable-use': null })
  await expect(readPolicies({ folder, chosen: true })).rejects.toMatchObject({ code: 'config_invalid' })
})
