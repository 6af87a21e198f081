import { readPackage } from '@agentgym/agent/packages'
import { describe, expect, it } from 'vitest'
import { packAgent } from './pack-agent.ts'

const text = (value: string) => new TextEncoder().encode(value)
const agent = new Map([
  [
    'package.json',
    text(
      '{"name":"cart-pole-ppo","version":"0.1.0","description":"Balances.","license":"MIT","agentgym":{"kind":"agent"}}',
    ),
  ],
  ['agent.json', text('{}')],
  ['model.onnx', text('model')],
  ['README.md', text('# Agent')],
  ['learning-curve.svg', text('<svg/>')],
])

const manifestOf = async (tarball: Uint8Array) =>
  JSON.parse((await readPackage(tarball)).get('package.json')?.toString() ?? '')

describe('packAgent', () => {
  it("adds the account's scope to an unscoped name, and keeps the rest of package.json", async () => {
    const packed = await packAgent(agent, { account: 'ann' })
    expect(packed).toMatchObject({ name: '@ann/cart-pole-ppo', version: '0.1.0' })
    expect(await manifestOf(packed.bytes)).toEqual({
      name: '@ann/cart-pole-ppo',
      version: '0.1.0',
      description: 'Balances.',
      license: 'MIT',
      agentgym: { kind: 'agent' },
    })
  })

  it('uses the given name and version', async () => {
    const named = await packAgent(agent, { account: 'ann', name: '@acme/pole', version: '2.0.0' })
    expect(named).toMatchObject({ name: '@acme/pole', version: '2.0.0' })
    expect(await packAgent(agent, { account: 'ann', name: 'pole' })).toMatchObject({ name: '@ann/pole' })
  })

  it('uses the given summary, and refuses an agent without one', async () => {
    const described = await packAgent(agent, { account: 'ann', summary: 'Balances a pole.' })
    expect(await manifestOf(described.bytes)).toMatchObject({
      description: 'Balances a pole.',
      agentgym: { kind: 'agent', summary: 'Balances a pole.' },
    })
    const bare = text('{"name":"a","version":"0.1.0","license":"MIT","agentgym":{"kind":"agent"}}')
    const trained = new Map([...agent, ['package.json', bare]])
    await expect(packAgent(trained, { account: 'ann' })).rejects.toMatchObject({
      code: 'package_summary_missing',
      hint: expect.stringContaining('--summary'),
    })
    await expect(packAgent(trained, { account: 'ann', summary: '[REPLACE: it]' })).rejects.toMatchObject({
      code: 'package_summary_placeholder',
    })
    expect((await packAgent(trained, { account: 'ann', summary: 'Balances.' })).version).toBe('0.1.0')
  })

  it('is deterministic in any order of files', async () => {
    const once = await packAgent(agent, { account: 'ann' })
    const again = await packAgent(new Map([...agent].reverse()), { account: 'ann' })
    expect(again.integrity).toBe(once.integrity)
  })

  it('contains only files of an agent', async () => {
    const packed = await packAgent(new Map([...agent, ['.env', text('SECRET=1')]]), { account: 'ann' })
    expect(packed.files.map(({ path }) => path)).toEqual([
      'package.json',
      'agent.json',
      'model.onnx',
      'README.md',
      'learning-curve.svg',
    ])
  })

  it.each([
    ['package.json', 'agent_invalid'],
    ['agent.json', 'agent_invalid'],
    ['model.onnx', 'agent_invalid'],
    ['README.md', 'package_readme_missing'],
  ])('refuses an agent without %s', async (path, code) => {
    const files = new Map([...agent].filter(([name]) => name !== path))
    await expect(packAgent(files, { account: 'ann' })).rejects.toMatchObject({ code })
  })

  it.each(['[]', 'no json', '{"version":"1.0.0"}', '{"name":7,"version":"1.0.0"}'])(
    'refuses a package.json that is %s',
    async (manifest) => {
      const files = new Map([...agent, ['package.json', text(manifest)]])
      await expect(packAgent(files, { account: 'ann' })).rejects.toMatchObject({ code: 'manifest_invalid' })
    },
  )
})
