// @module-tag full
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '@agentgym/testkit/command-line'
import { packScenario } from '@agentgym/testkit/packages'
import { afterAll, beforeAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-tools-'))
const options = { cwd: folder, environment: { AGENTGYM_HOME: join(folder, 'home') } }
beforeAll(async () => {
  expect((await runCli(['scenario', 'init', 'puck', '--yes'], options)).status).toBe(0)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('doctor shows players and findings, and its exit status says whether one is a problem', async () => {
  const { status, lines } = await runCli(['scenario', 'doctor', 'puck', '--json'], options)
  const report = lines[0] as { ok: boolean; players: { player: string }[]; findings: { severity: string }[] }
  expect(report.players.map(({ player }) => player)).toContain('random actions')
  const problems = report.findings.filter(({ severity }) => severity === 'problem')
  expect({ status, ok: report.ok }).toEqual(problems.length === 0 ? { status: 0, ok: true } : { status: 1, ok: false })
  const human = await runCli(['scenario', 'doctor', 'puck'], options)
  expect(human.stdout).toMatch(/random actions +\S+ +\S+ +(yes|no)? +96/)
})

it('profile names functions with the author’s file and line', async () => {
  const { status, lines } = await runCli(['scenario', 'profile', 'puck', '--json'], options)
  expect(status).toBe(0)
  const source = readFileSync(join(folder, 'puck', 'src', 'index.ts'), 'utf8').split('\n')
  const { functions } = lines[0] as { functions: { name: string; file: string; line: number }[] }
  const step = functions.find(({ name }) => name === 'step')
  expect(step?.file).toBe('src/index.ts')
  expect(source[(step?.line ?? 0) - 1]).toMatch(/step\(/)
})

it('diff compares folders and tarballs, and exits with 1 where the version number hides a change', async () => {
  cpSync(join(folder, 'puck'), join(folder, 'changed'), { recursive: true })
  const entry = join(folder, 'changed', 'src', 'index.ts')
  writeFileSync(entry, readFileSync(entry, 'utf8').replace('reward: 1 - distance', 'reward: 2 - distance'))
  const manifest = join(folder, 'changed', 'package.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"0.1.0"', '"0.1.1"'))
  const changed = await runCli(['scenario', 'diff', 'puck', 'changed', '--json'], options)
  expect(changed.status).toBe(1)
  expect(changed.lines[0]).toMatchObject({
    ok: false,
    needed: 'minor',
    declared: 'patch',
    changes: [{ kind: 'reward' }],
  })

  const { tarball } = await packScenario('cart-pole', { name: '@acme/cart-pole' })
  writeFileSync(join(folder, 'cart-pole.tgz'), tarball)
  const same = await runCli(['scenario', 'diff', 'cart-pole.tgz', 'cart-pole'], options)
  expect(same.stdout).toMatch(/Every one of [\d,]+ compared steps is the same/)
  expect(same.status).toBe(0)
  const missing = await runCli(['scenario', 'diff', 'nothing.tgz', 'cart-pole', '--json'], options)
  expect(missing.lines.at(-1)).toMatchObject({ error: { code: 'file_not_found' } })
})
