import { createHash } from 'node:crypto'
import type { AgentManifest } from '@agentgym/contract'
import { archive, gzip, type RawEntry } from './tar-writer.ts'

const model = Buffer.from('not a model: what is in it is for the verification to say')

export const goodAgent: AgentManifest = {
  format: 1,
  scenario: {
    name: '@t/maze',
    version: '1.0.0',
    hash: 'a'.repeat(64),
    observation: { type: 'box', shape: [2], low: [null, null], high: [null, null] },
    action: { type: 'discrete', n: 2, start: 0 },
    success: { return_mean: 0.9 },
  },
  policy: {
    version: 1,
    observation: [{ name: 'obs', kind: 'box', offset: 0, size: 2, counts: [], shape: [2] }],
    action: [
      {
        name: 'action',
        kind: 'discrete',
        offset: 0,
        size: 1,
        counts: [2],
        distributionOffset: 0,
        maskOffset: 0,
        logStdOffset: 0,
        low: [],
        high: [],
        center: [],
        scale: [],
        start: 0,
      },
    ],
    hidden: [64],
    activation: 'tanh',
    embedding: 16,
    normalizeObservation: false,
  },
  algorithm: 'ppo',
  settings: {},
  seed: 1,
  steps: 1_000,
  evaluation: {
    scenario: '@t/maze@1.0.0',
    episodes: 10,
    seed: 1,
    return_mean: 0.95,
    return_std: 0.1,
    length_mean: 8,
    metrics: {},
    success: { ok: true, criteria: [{ metric: 'return_mean', target: 0.9, value: 0.95, ok: true }] },
    trajectory_hash: 'b'.repeat(64),
  },
  model_hash: createHash('sha256').update(model).digest('hex'),
  runtime: { node: '24.21.0' },
}

/** Files of a trained agent's package as training writes it; `agent` replaces fields of its agent.json. */
export function agentEntries(manifest: Record<string, unknown> = {}, agent: Record<string, unknown> = {}): RawEntry[] {
  const fields = {
    name: '@t/maze-ppo',
    version: '0.1.0',
    license: 'UNLICENSED',
    agentgym: { kind: 'agent' },
    ...manifest,
  }
  return [
    { path: 'package/package.json', body: JSON.stringify(fields) },
    { path: 'package/README.md', body: '# Maze, PPO\n' },
    { path: 'package/agent.json', body: JSON.stringify({ ...goodAgent, ...agent }) },
    { path: 'package/model.onnx', body: model },
  ]
}

export function agentTarball(manifest: Record<string, unknown> = {}, agent: Record<string, unknown> = {}): Buffer {
  return gzip(archive(agentEntries(manifest, agent)))
}
