import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentManifest, SpaceDescription } from '@agentgym/contract'
import { writeRandomAgent } from '../../../runtime/test/random-agent.ts'
import { testedSpaces } from './sampled-spaces.ts'

/** Without `mask`, the caller does not say what is legal; null is everything. */
type Call = { observation: unknown; mask?: unknown; state?: string }

const numbers: SpaceDescription = { type: 'box', shape: [2], low: [-1, null], high: [1, null] }
const image: SpaceDescription = { type: 'box', shape: [2, 2], low: [0, 0, 0, 0], high: [1, 1, 1, 1] }
const choice: SpaceDescription = { type: 'discrete', n: 2, start: 0 }
const [tools] = testedSpaces.filter(({ name }) => name === 'tools')
const item = { id: 'a', features: [0, 1] }
const spoken = (change: object = {}) => ({ note: 'hello', orders: [item], ...change })
/** Without the text that a sentence encoder reads. */
const desk: SpaceDescription =
  tools.observation.type === 'dict'
    ? { ...tools.observation, entries: tools.observation.entries.filter(({ name }) => name !== 'message') }
    : tools.observation

/** Calls of agents with one thing wrong, and some with nothing wrong. */
export const invalidCalls: {
  name: string
  spaces: { observation: SpaceDescription; action: SpaceDescription }
  maskRequired?: true
  calls: Call[]
}[] = [
  {
    name: 'numbers',
    spaces: { observation: numbers, action: choice },
    calls: [
      { observation: [0.5, 3] },
      { observation: [1] },
      { observation: [1, 2, 3] },
      { observation: [1.5, 0] },
      { observation: [0, 1e300] },
      { observation: ['a', 0] },
      { observation: [true, 0] },
      { observation: [0, null] },
      { observation: 'text' },
      { observation: null },
      { observation: {} },
      { observation: [0, 0], mask: [true] },
      { observation: [0, 0], mask: [false, false] },
      { observation: [0, 0], mask: [1, 0] },
      { observation: [0, 0], mask: 'all' },
      { observation: [0, 0], state: 'AAAA' },
    ],
  },
  {
    name: 'images',
    spaces: { observation: image, action: { type: 'multiDiscrete', nvec: [2, 3] } },
    calls: [
      {
        observation: [
          [0, 1],
          [1, 0],
        ],
      },
      { observation: [0, 1, 1, 0] },
      { observation: [[0, 1], [1]] },
      { observation: [[0, 1], 1] },
      { observation: [[0, 1]] },
      {
        observation: [
          [0, 1],
          [1, 2],
        ],
      },
      { observation: [0, 1, 1, 0], mask: [[true, true]] },
      {
        observation: [0, 1, 1, 0],
        mask: [
          [true, true],
          [false, false, false],
        ],
      },
    ],
  },
  {
    name: 'desk',
    spaces: { observation: desk, action: tools.action },
    calls: [
      { observation: spoken() },
      { observation: { note: 'hello' } },
      { observation: spoken({ more: 1 }) },
      { observation: spoken({ note: 7 }) },
      { observation: spoken({ note: 'x'.repeat(1_000_001) }) },
      { observation: spoken({ orders: [item, item] }) },
      { observation: spoken({ orders: Array.from({ length: 5 }, (_, i) => ({ ...item, id: `${i}` })) }) },
      { observation: spoken({ orders: [{ id: '', features: [0, 1] }] }) },
      { observation: spoken({ orders: [{ id: 'a', features: [0] }] }) },
      { observation: spoken({ orders: [{ id: 'a', features: [0, 'b'] }] }) },
      { observation: spoken({ orders: ['a'] }) },
      { observation: spoken({ orders: 'a' }) },
      { observation: 'text' },
      { observation: spoken(), mask: { tool: [true, true, true] } },
      { observation: spoken(), mask: 'all' },
      { observation: spoken({ orders: [] }), mask: toolMask([false, true, false]) },
      { observation: spoken({ orders: [] }), mask: toolMask([false, true, true]) },
    ],
  },
  {
    name: 'levers',
    spaces: { observation: { type: 'multiDiscrete', nvec: [3, 2] }, action: numbers },
    calls: [
      { observation: [2, 1] },
      { observation: [3, 1] },
      { observation: [0.5, 1] },
      { observation: [1] },
      { observation: [1, 1], mask: [true] },
    ],
  },
  {
    name: 'masked',
    spaces: { observation: numbers, action: choice },
    maskRequired: true,
    calls: [{ observation: [0, 0] }, { observation: [0, 0], mask: null }, { observation: [0, 0], mask: [true, false] }],
  },
  {
    name: 'remembering',
    spaces: { observation: { type: 'discrete', n: 3, start: -1 }, action: choice },
    calls: [
      { observation: -1 },
      { observation: 2 },
      { observation: '1' },
      { observation: 0, state: Buffer.alloc(64).toString('base64') },
      { observation: 0, state: 'AAAA' },
      { observation: 0, state: 'not base64!' },
      { observation: 0, state: Buffer.from(new Float32Array(16).fill(Number.NaN).buffer).toString('base64') },
    ],
  },
]

function toolMask(tool: boolean[]) {
  return { tool, refund: { order: [true, true, true, true], reason: [true, true, true] } }
}

/** Folders of an agent whose agent.json is changed. */
export function invalidManifests(folder: string): { name: string; path: string }[] {
  const good = join(folder, 'good')
  writeRandomAgent(good, 'good', { observation: desk, action: tools.action })
  const text = readFileSync(join(good, 'agent.json'), 'utf8')
  const changes: [name: string, change: (manifest: Changeable) => unknown][] = [
    ['good', (manifest) => manifest],
    ['another-format', (manifest) => ({ ...manifest, format: 2 })],
    ['without-policy', ({ policy: _, ...rest }) => rest],
    ['offset', ({ policy }) => void Object.assign(policy.observation[1], { offset: 3 })],
    ['boolean', ({ policy }) => void Object.assign(policy.observation[0], { offset: true })],
    ['size', ({ policy }) => void Object.assign(policy.action[0], { counts: [4] })],
    ['scale', ({ policy }) => void Object.assign(policy.action[2], { scale: [2] })],
    ['unknown-member', (manifest) => void Object.assign(manifest.policy, { more: 1 })],
    ['unknown-space', (manifest) => void Object.assign(manifest.scenario.observation, { type: 'graph' })],
    ['other-space', (manifest) => void Object.assign(manifest.scenario, { action: choice })],
    ['other-hash', (manifest) => ({ ...manifest, model_hash: 'f'.repeat(64) })],
    ['confidence', (manifest) => ({ ...manifest, confidence: { method: 'guess' } })],
    ['list', () => []],
  ]
  const folders = changes.map(([name, change]) => {
    const path = name === 'good' ? good : join(folder, name)
    if (name !== 'good') cpSync(good, path, { recursive: true })
    const manifest = JSON.parse(text)
    writeFileSync(join(path, 'agent.json'), JSON.stringify(change(manifest) ?? manifest))
    return { name, path }
  })
  for (const [name, content] of [
    ['no-json', '{'],
    ['not-a-number', text.replace('"seed":1', '"seed":NaN')],
  ]) {
    const path = join(folder, name)
    cpSync(good, path, { recursive: true })
    writeFileSync(join(path, 'agent.json'), content)
    folders.push({ name, path })
  }
  return [...folders, { name: 'nothing', path: join(folder, 'nothing') }]
}

type Changeable = AgentManifest & Record<string, unknown>
