// @module-tag full
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type CheckReport, checkReportSchema } from '@agentgym/contract'
import { runCli } from '@agentgym/testkit/command-line'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-newcomer-'))
const options = { cwd: folder, environment: { AGENTGYM_HOME: join(folder, 'home') } }
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const packageFolder = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
const runNode = (file: string, words: string[], cwd: string) =>
  promisify(execFile)(process.execPath, [file, ...words], { cwd, env: { PATH: process.env.PATH, NO_COLOR: '1' } })

async function check(name: string): Promise<{ types: CheckReport['checks'][number] | undefined; report: CheckReport }> {
  const { lines } = await runCli(['scenario', 'check', name, '--json'], options)
  const report = checkReportSchema.parse(lines[0])
  return { report, types: report.checks.find(({ id }) => id === 'types') }
}

describe.each(isLong ? ['control', 'tools'] : ['tools'])('a new folder of the template %s', (template) => {
  const home = join(folder, template)
  beforeAll(async () => {
    const { status } = await runCli(['scenario', 'init', template, '--template', template, '--yes'], options)
    expect(status).toBe(0)
    // In place of `npm install`, which leaves @agentgym/scenario linked as it is.
    for (const name of ['vitest', 'typescript']) symlinkSync(join(modules, name), join(home, 'node_modules', name))
  })

  it('has types that resolve: its own tsc has nothing to report', async () => {
    const { stdout } = await runNode(join(packageFolder('typescript'), 'bin/tsc'), ['-p', '.'], home)
    expect(stdout).toBe('')
  })

  it('has tests that pass', async () => {
    const { stdout } = await runNode(join(packageFolder('vitest'), 'vitest.mjs'), ['run', '--root', '.'], home)
    expect(stdout).toMatch(/Tests +3 passed/)
  })

  it('has tests that pass with the command alone', async () => {
    const { status, lines } = await runCli(['scenario', 'test', template, '--json'], options)
    expect({ status, report: lines[0] }).toMatchObject({ status: 0, report: { ok: true, passed: 3, failed: 0 } })
  })

  it('is told that vendor/scenario is old, and writes it again', async () => {
    const manifest = join(home, 'vendor/scenario/package.json')
    const { sourceHash, ...old } = JSON.parse(readFileSync(manifest, 'utf8'))
    writeFileSync(manifest, JSON.stringify(old))
    expect((await check(template)).types).toMatchObject({
      ...{ ok: true, warning: true },
      message: expect.stringContaining('agentgym scenario init --refresh'),
    })
    expect((await runCli(['scenario', 'init', template, '--refresh'], options)).status).toBe(0)
    expect(JSON.parse(readFileSync(manifest, 'utf8'))).toEqual({ ...old, sourceHash })
    expect((await check(template)).types).toEqual({ id: 'types', ok: true, message: 'no type errors' })
  })

  it('is refused with the place of a type error, and the other checks still run', async () => {
    const file = join(home, 'src/index.ts')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, `${text}\nexport const planted: number = 'a string'\n`)
    const line = text.split('\n').length + 1
    const { types, report } = await check(template)
    expect(types).toMatchObject({
      ok: false,
      message: `src/index.ts:${line}:14 Type 'string' is not assignable to type 'number'. (TS2322)`,
      frame: expect.stringContaining(`> ${line} | export const planted`),
    })
    expect(report.checks.filter(({ ok }) => !ok).map(({ id }) => id)).toEqual(['types'])

    // Without a tsconfig.json, types were not asked for.
    rmSync(join(home, 'tsconfig.json'))
    expect((await check(template)).types).toMatchObject({ ok: true, warning: true })
    writeFileSync(file, `${text}\nconsole.log('loaded')\n`)
    expect((await check(template)).types).toMatchObject({ ok: true, message: 'no type errors (no tsconfig.json)' })
  })
})
