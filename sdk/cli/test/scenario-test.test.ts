import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCli } from '@agentgym/testkit/command-line'
import { fullTier } from '@agentgym/testkit/tier'
import { afterAll, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-tests-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest = {
  ...{ name: '@ann/corridor', version: '0.1.0', license: 'MIT', type: 'module' },
  agentgym: {
    ...{ kind: 'scenario', entry: 'src/index.ts', title: 'Corridor', summary: 'Walk to the end.' },
    ...{ category: 'control', difficulty: 'beginner', success: { return_mean: 0.5 } },
  },
}
const scenario = (reward: number) => `import { box, defineScenario, discrete } from '@agentgym/scenario'
export default defineScenario({
  observation: box({ shape: [1] }),
  action: discrete({ n: 2, labels: ['left', 'right'] }),
  maxSteps: 5,
  reset: ({ rng }) => ({ at: rng.int(2) }),
  step(state, action) {
    state.at += action === 1 ? 1 : -1
    return { reward: ${reward}, terminated: state.at === 3 }
  },
  observe: ({ at }) => [at],
})
`
const tests = `import { expectGolden, playEpisode } from '@agentgym/scenario/testing'
import { expect, test } from 'vitest'
import scenario from './index.ts'
test('walks', async () => {
  const played = await playEpisode(scenario, Array(5).fill('right'), { seed: 1 })
  expect(played.terminated).toBe(true)
  expectGolden(played, 'golden/right.json')
})
test('rests', (context) => context.skip())
`

function write(name: string, files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, 'src'), { recursive: true })
    writeFileSync(join(folder, name, file), text)
  }
}

async function runTests(name: string, ...words: string[]) {
  const { status, lines } = await runCli(['scenario', 'test', name, ...words, '--json'], { cwd: folder })
  return { status, report: lines[0] as Record<string, unknown> }
}

it('records and compares a golden trajectory, in a folder without node_modules', async () => {
  const files = {
    'package.json': JSON.stringify(manifest),
    'src/index.ts': scenario(1),
    'src/index.test.ts': tests,
  }
  write('corridor', files)
  const first = await runTests('corridor')
  expect(first).toMatchObject({
    status: 1,
    report: {
      ...{ ok: false, name: '@ann/corridor', version: '0.1.0', files: 1, passed: 0, failed: 1, skipped: 1, errors: [] },
      tests: [
        {
          ...{ file: 'src/index.test.ts', name: 'walks', state: 'failed', line: 7 },
          message: expect.stringMatching(/^golden\/right\.json does not exist\. Record it with/),
        },
        { name: 'rests', state: 'skipped' },
      ],
    },
  })
  expect(await runTests('corridor', '--update')).toMatchObject({ status: 0, report: { ok: true, passed: 1 } })
  expect(JSON.parse(readFileSync(join(folder, 'corridor/golden/right.json'), 'utf8')).end).toMatchObject({
    terminated: true,
  })
  // For people: Vitest's own report. Nothing is left in the folder.
  const { status, stdout } = await runCli(['scenario', 'test', 'corridor'], { cwd: folder })
  expect(status).toBe(0)
  expect(stdout).toMatch(/Tests +1 passed \| 1 skipped/)
  expect(readdirSync(join(folder, 'corridor')).sort()).toEqual(['golden', 'package.json', 'src'])

  write('corridor', { 'src/index.ts': scenario(2) })
  expect(await runTests('corridor')).toMatchObject({
    status: 1,
    report: {
      tests: [{ message: expect.stringContaining('step 1 differs first in reward: recorded 1, now 2.') }, {}],
    },
  })
})

it('reports a file that does not load and a folder without tests; the configuration of the folder counts', {
  tags: fullTier,
}, async () => {
  write('broken', {
    'package.json': JSON.stringify(manifest),
    'src/broken.test.ts': "throw new Error('no test')\n",
  })
  expect(await runTests('broken')).toMatchObject({
    status: 1,
    report: { ok: false, files: 1, errors: [{ file: 'src/broken.test.ts', message: 'no test' }] },
  })
  write('broken', { 'vitest.config.ts': "export default { test: { include: ['none/**'] } }\n" })
  const { status, stdout } = await runCli(['scenario', 'test', 'broken'], { cwd: folder })
  expect(status).toBe(1)
  expect(stdout).toContain('No tests found in broken')
  write('broken', { 'vitest.config.ts': "throw new Error('planted')\n" })
  expect(await runTests('broken')).toMatchObject({
    status: 1,
    report: { error: { code: 'scenario_tests_not_run', hint: expect.stringContaining('npm test') } },
  })
  expect(existsSync(join(folder, 'broken/golden'))).toBe(false)
})
