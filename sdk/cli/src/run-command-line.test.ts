import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { trainingEventSchema } from '@agentgym/contract'
import { runCli } from '@agentgym/testkit/command-line'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('help', () => {
  it('names every command', async () => {
    const { status, stdout } = await runCli(['--help'])
    expect(status).toBe(0)
    const work = ['scenario', 'train', 'eval', 'list', 'info']
    const registry = ['search', 'install', 'outdated', 'versions', 'tag', 'deprecate', 'yank']
    const training = ['runs', 'status', 'agent', 'leaderboard']
    const account = ['signup', 'login', 'logout', 'whoami', 'token', 'serve', 'worker']
    for (const word of [...work, ...training, ...registry, ...account])
      expect(stdout).toMatch(new RegExp(`^  ${word} `, 'm'))
    for (const word of ['--json', '--verbose', '--no-color', '--version']) expect(stdout).toContain(word)
  })

  it('--version prints the version, except with agent publish', async () => {
    expect((await runCli(['train', '--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const publish = await runCli(['agent', 'publish', 'nobody', '--version', '1.0.0', '--json'], { cwd: folder })
    expect(publish).toMatchObject({ status: 2, lines: [{ error: { code: 'file_not_found' } }] })
  })

  it('is shown without a command', async () => {
    const { status, stdout } = await runCli([])
    expect(status).toBe(0)
    expect(stdout).toContain('Usage: agentgym COMMAND')
  })

  it('lists the options of a command', async () => {
    const { status, stdout } = await runCli(['train', '--help'])
    expect(status).toBe(0)
    for (const word of ['--algorithm', '--steps', '--seed', '--out', '--set', '--resume', '--watch', '--json'])
      expect(stdout).toContain(word)
  })

  it.each([
    ['train', ['train']],
    ['scenario', ['scenario']],
    ['scenario init', ['scenario', 'init']],
    ['runs watch', ['runs', 'watch']],
  ])('help %s prints what --help prints', async (_, words) => {
    const { status, stdout } = await runCli(['help', ...words])
    expect(status).toBe(0)
    expect(stdout).toContain(`Usage: agentgym ${words.join(' ')}`)
    expect(stdout).toBe((await runCli([...words, '--help'])).stdout)
  })

  it('fits a terminal of 80 columns', async () => {
    const { stdout } = await runCli(['train', '--help'], { environment: { COLUMNS: '80' } })
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})

describe('wrong use ends with status 2', () => {
  const cases: { words: string[]; code: string; suggestion?: string; field?: string }[] = [
    { words: ['trian'], code: 'usage_invalid', suggestion: 'train' },
    { words: ['scenario'], code: 'usage_invalid' },
    { words: ['scenario', 'chek'], code: 'usage_invalid', suggestion: 'check' },
    { words: ['help', 'trian'], code: 'usage_invalid', suggestion: 'train' },
    { words: ['help', 'scenario', 'inti'], code: 'usage_invalid', suggestion: 'scenario init' },
    { words: ['help', 'doctor'], code: 'usage_invalid', suggestion: 'scenario doctor' },
    { words: ['help', 'train', 'cart-pole'], code: 'usage_invalid' },
    { words: ['help', 'scenario', 'zzzzzzzz'], code: 'usage_invalid' },
    { words: ['train'], code: 'usage_invalid' },
    { words: ['train', 'cart-pole', 'more'], code: 'usage_invalid' },
    { words: ['train', 'cart-pole', '--stps', '10'], code: 'usage_invalid', suggestion: '--steps' },
    { words: ['train', 'cart-pole', '--watch'], code: 'usage_invalid' },
    { words: ['train', 'cart-pole', '--resume', '--force'], code: 'usage_invalid' },
    { words: ['train', 'cart-pole', '--steps', '10', '--set', 'steps=20'], code: 'usage_invalid' },
    { words: ['train', 'cart-pole', '--steps', 'abc'], code: 'config_invalid', field: 'steps' },
    { words: ['train', 'cart-pole', '--steps', '0'], code: 'config_invalid', field: 'steps' },
    { words: ['train', 'cart-pole', '--steps', '1.5'], code: 'config_invalid', field: 'steps' },
    { words: ['train', 'cart-pole', '--seed=-1'], code: 'config_invalid', field: 'seed' },
    { words: ['train', 'cart-pole', '--seed', '4294967296'], code: 'config_invalid', field: 'seed' },
    { words: ['train', 'cart-pole', '--set', 'learning_rate'], code: 'config_invalid', field: 'learning_rate' },
    {
      words: ['train', 'cart-pole', '--set', 'learning_rte=1'],
      code: 'config_invalid',
      field: 'learning_rte',
      suggestion: 'learning_rate',
    },
    { words: ['train', 'cart-pole', '--set', '__proto__=1'], code: 'config_invalid', field: '__proto__' },
    { words: ['train', 'cart-pole', '--set', 'gamma=2'], code: 'config_invalid', field: 'gamma' },
    { words: ['train', 'cart-pole', '--algorithm', 'ppp'], code: 'config_invalid', field: 'algorithm' },
    { words: ['train', 'cart-pol'], code: 'file_not_found', suggestion: 'cart-pole' },
    { words: ['train', './cart-pole'], code: 'file_not_found' },
    { words: ['train', 'cart-pole', '--resume'], code: 'file_not_found' },
    { words: ['eval', 'nobody'], code: 'file_not_found' },
    { words: ['eval', 'nobody', '--episodes', 'many'], code: 'config_invalid', field: 'episodes' },
    { words: ['info', 'nothing'], code: 'file_not_found' },
    { words: ['install', 'cart-pole'], code: 'name_invalid' },
    { words: ['yank', '@acme/maze@latest'], code: 'version_invalid', field: 'version' },
    { words: ['signup', '--username', 'ann'], code: 'usage_invalid' },
    { words: ['runs'], code: 'usage_invalid' },
    { words: ['runs', 'wach', '4f0c'], code: 'usage_invalid', suggestion: 'watch' },
    { words: ['runs', 'list', '--state', 'runing'], code: 'config_invalid', field: 'state', suggestion: 'running' },
    { words: ['agent', 'verify', 'nobody'], code: 'file_not_found' },
    { words: ['leaderboard', 'cart-pole'], code: 'name_invalid' },
    { words: ['serve', '--port', '70000'], code: 'config_invalid', field: 'port' },
    { words: ['worker', '--server', 'gym'], code: 'config_invalid', field: 'server' },
    { words: ['worker', '--kinds', 'check,dance'], code: 'config_invalid', field: 'kinds' },
    { words: ['worker', '--slots', '0'], code: 'config_invalid', field: 'slots' },
    { words: ['worker', '--price', '-1'], code: 'config_invalid', field: 'price' },
    {
      words: ['token', 'create', 'ci', '--username', 'ann', '--scope', 'packages:red'],
      code: 'config_invalid',
      field: 'scope',
      suggestion: 'packages:read',
    },
    {
      words: ['scenario', 'init', 'x', '--template', 'tool'],
      code: 'config_invalid',
      field: 'template',
      suggestion: 'tools',
    },
    { words: ['scenario', 'init', 'x', '--name', 'Not A Name'], code: 'config_invalid', field: 'name' },
  ]

  it.each(cases)('$words', async ({ words, code, suggestion, field }) => {
    const { status, stdout, stderr, lines } = await runCli([...words, '--json'], { cwd: folder })
    expect({ status, stderr }).toEqual({ status: 2, stderr: '' })
    expect(lines).toHaveLength(1)
    const line = words[0] === 'train' ? trainingEventSchema.parse(lines[0]) : lines[0]
    expect(line).toMatchObject({ error: { code } })
    if (suggestion) expect(stdout).toContain(suggestion)
    if (field) expect(line).toMatchObject({ error: { data: { field } } })
  })

  it('prints what failed and how to fix it, with the code last', async () => {
    const { status, stdout, stderr } = await runCli(['train', 'cart-pole', '--set', 'learning_rte=1'], { cwd: folder })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^✗ .*learning_rte/)
    expect(lines.some((line) => line.startsWith('→ Did you mean learning_rate?'))).toBe(true)
    expect(lines.at(-1)).toBe('  config_invalid')
    expect(stderr).not.toContain('\u001b')
  })

  it('adds the details with --verbose', async () => {
    const { stderr } = await runCli(['train', 'cart-pol', '--verbose'], { cwd: folder })
    expect(stderr).toContain('suggestion: "cart-pole"')
    expect(stderr).toMatch(/at .*scenarios\.ts/)
  })

  it('escapes untrusted input', async () => {
    const { stderr } = await runCli(['info', '\u001b[31mred\u0007'], { cwd: folder })
    expect(stderr).not.toContain('\u001b')
    expect(stderr).toContain('red')
  })
})

describe('list and info', () => {
  it('list the built-in scenarios', async () => {
    const { status, lines } = await runCli(['list', '--json'], { cwd: folder })
    expect(status).toBe(0)
    expect(lines).toHaveLength(1)
    const scenario = {
      name: '@agentgym/cart-pole',
      version: '1.0.0',
      difficulty: 'beginner',
      success: { return_mean: 475 },
    }
    expect(lines[0]).toMatchObject({
      scenarios: expect.arrayContaining([expect.objectContaining(scenario)]),
      agents: [],
    })
  })

  it.each([40, 80, 120])('never wrap the table (%i columns)', async (columns) => {
    const { stdout } = await runCli(['list'], { cwd: folder, environment: { COLUMNS: String(columns) } })
    const table = stdout.split('\n').filter((line) => !line.startsWith('→') && !line.startsWith('No agent'))
    for (const line of table) expect(line.length).toBeLessThan(columns)
    expect(stdout).toContain('cart-pole')
  })

  it('describe a built-in scenario by name, with or without its scope', async () => {
    for (const name of ['cart-pole', '@agentgym/cart-pole']) {
      const { status, lines } = await runCli(['info', name, '--json'], { cwd: folder })
      expect(status).toBe(0)
      expect(lines[0]).toMatchObject({
        kind: 'scenario',
        name: '@agentgym/cart-pole',
        manifest: { agentgym: { title: 'Cart pole' } },
      })
    }
  })

  it('name the invalid field of a manifest', async () => {
    const manifest = {
      name: 'broken',
      version: '1.0.0',
      agentgym: { kind: 'scenario', entry: 'index.ts', title: 'B', summary: 's', category: 'c', difficulty: 'hard' },
    }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    const { status, lines } = await runCli(['info', '.', '--json'], { cwd: folder })
    expect(status).toBe(2)
    expect(lines[0]).toMatchObject({ error: { code: 'manifest_invalid', data: { field: 'agentgym.difficulty' } } })
    rmSync(join(folder, 'package.json'))
  })
})

describe('the root script', () => {
  const script = fileURLToPath(new URL('../../../agentgym', import.meta.url))

  it('runs from any folder through chains of symbolic links, absolute and relative', async () => {
    symlinkSync(script, join(folder, 'first'))
    symlinkSync('first', join(folder, 'second'))
    const { stdout } = await promisify(execFile)(join(folder, 'second'), ['--version'], { cwd: tmpdir() })
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('explains the set-up if nothing is installed', async () => {
    const bare = mkdtempSync(join(tmpdir(), 'agentgym "bare" '))
    await promisify(execFile)('cp', [script, bare])
    const run = (words: string[]) =>
      promisify(execFile)(join(bare, 'agentgym'), words).then(
        () => ({ code: 0, stdout: '', stderr: '' }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      )
    const human = await run(['list'])
    expect(human.code).toBe(2)
    expect(human.stderr).toContain('npm run demo')
    const json = await run(['list', '--json'])
    expect(json.code).toBe(2)
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'setup_incomplete' } })
    rmSync(bare, { recursive: true })
  })

  it('ends quietly when its reader closes the pipe', async () => {
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', `"${script}" --help | head -1`])
    expect({ stdout, stderr }).toEqual({ stdout: 'Usage: agentgym COMMAND [options]\n', stderr: '' })
  })
})
