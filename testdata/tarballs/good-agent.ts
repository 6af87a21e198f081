import { createHash } from 'node:crypto'
import type { AgentManifest } from '@agentgym/contract'
import { goodModel, goodPolicy } from '../models/good-models.ts'
import { archive, gzip, type RawEntry } from './tar-writer.ts'

const model = goodModel()

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
  policy: goodPolicy,
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

/**
 * Files of a trained agent's package as training writes it; `agent` replaces fields of its agent.json, `bytes` its model.
 */
export function agentEntries(
  manifest: Record<string, unknown> = {},
  agent: Record<string, unknown> = {},
  bytes: Buffer = model,
): RawEntry[] {
  const fields = {
    name: '@t/maze-ppo',
    version: '0.1.0',
    license: 'MIT',
    description: 'Finds the way out of the maze.',
    agentgym: { kind: 'agent' },
    ...manifest,
  }
  const model_hash = createHash('sha256').update(bytes).digest('hex')
  return [
    { path: 'package/package.json', body: JSON.stringify(fields) },
    { path: 'package/README.md', body: '# Maze, PPO\n' },
    { path: 'package/agent.json', body: JSON.stringify({ ...goodAgent, model_hash, ...agent }) },
    { path: 'package/model.onnx', body: bytes },
  ]
}

export function agentTarball(
  manifest: Record<string, unknown> = {},
  agent: Record<string, unknown> = {},
  bytes: Buffer = model,
): Buffer {
  return gzip(archive(agentEntries(manifest, agent, bytes)))
}
