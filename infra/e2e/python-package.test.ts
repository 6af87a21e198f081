// @module-tag full
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writePython } from '@agentgym/agent/engine'
import { describeScenario } from '@agentgym/scenario/engine'
import { pythonEnvironment, pythonSource, runPython } from '@agentgym/testkit/python'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import returns from '../../plugins/returns-desk/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'agentgym-python-package-'))
afterAll(() => rmSync(home, { recursive: true }))

const { observation, action } = describeScenario(returns)
const desk = { message: 'the kettle arrived broken', damage: [0.4], orders: [{ id: 'A-17', features: features() }] }
let python: string
let agent: string
beforeAll(async () => {
  python = await pythonEnvironment('agent')
  agent = writeRandomAgent(join(home, 'agent'), 'returns-desk', { observation, action }).folder
})

/** Numbers of an item in the list of orders. */
function features(): number[] {
  const entries = observation.type === 'dict' ? observation.entries : []
  const orders = entries.find(({ name }) => name === 'orders')?.space
  return Array(orders?.type === 'list' ? orders.features : 0).fill(0.5)
}

describe('the Python package', { timeout: 600_000 }, () => {
  it('installs from its wheel into an empty environment, and acts there', async () => {
    const wheels = join(home, 'wheels')
    const source = join(home, 'python')
    cpSync(join(root, 'sdk/python'), source, { recursive: true })
    const pip = ['-m', 'pip', '--disable-pip-version-check', '--quiet']
    await run(python, [...pip, 'wheel', '--no-deps', '--no-build-isolation', '--wheel-dir', wheels, source])
    const [wheel] = readdirSync(wheels)
    const { stdout: files } = await run(python, ['-m', 'zipfile', '--list', join(wheels, wheel)])
    for (const file of ['agentgym/py.typed', 'agentgym/_texts/minilm-vocabulary.txt', 'licenses/LICENSE'])
      expect(files).toContain(file)
    expect(files).not.toContain('tests/')
    const empty = join(home, 'empty')
    await run('python3', ['-m', 'venv', empty])
    await run(join(empty, 'bin/python'), [...pip, 'install', join(wheels, wheel)])
    const request = JSON.stringify({ load: { source: agent }, observation: desk })
    const script = join(pythonSource, '../tests/load_and_act.py')
    const { stdout } = await run(join(empty, 'bin/python'), ['-I', script, request], { cwd: home })
    const { decision } = JSON.parse(stdout)
    expect(decision.choices.map(({ label }: { label: string }) => label)).toContain(decision.label)
  })

  it('has types that mypy takes in its strict form', async () => {
    const own = [
      '__init__.py',
      'agent.py',
      'errors.py',
      'loading.py',
      '_codec',
      '_model',
      '_packages',
      '_policy',
      '_texts',
    ]
    await mypy(own.map((file) => join(pythonSource, 'agentgym', file)))
  })

  it('takes the types of agentgym agent types, and mypy names what does not fit them', async () => {
    const manifest = JSON.parse(readFileSync(join(agent, 'agent.json'), 'utf8'))
    writeFileSync(join(home, 'support.py'), writePython(manifest))
    const use = `
import sys
import agentgym
from support import Action, Label, Observation

agent: agentgym.Agent[Observation, Action, Label] = agentgym.load(sys.argv[1])
decision = agent.act(${JSON.stringify(desk)})
label: Label = decision.label
print(label, decision.arguments)
`
    writeFileSync(join(home, 'use.py'), use)
    await mypy([join(home, 'use.py')])
    const [label] = (await runPython(python, [join(home, 'use.py'), agent])).split(' ')
    expect(['find_orders', 'refund', 'replace']).toContain(label)
    writeFileSync(join(home, 'misuse.py'), use.replace('"message"', '"massage"').replace('label: Label', 'label: int'))
    const misuse = mypy([join(home, 'misuse.py')])
    await expect(misuse).rejects.toThrow(/"message"[\s\S]*Incompatible types in assignment/)
  })
})

async function mypy(files: string[]): Promise<void> {
  const cache = join(home, 'mypy')
  await runPython(python, ['-m', 'mypy', '--strict', '--follow-imports', 'silent', '--cache-dir', cache, ...files], {
    environment: { MYPYPATH: `${pythonSource}:${home}` },
    cwd: home,
  })
}
