import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { algorithmSettings, namingFile, type TrainingAlgorithm } from '@agentgym/contract'
import type { Runtime } from '../command-context.ts'

type Block = Record<string, unknown>

/**
 * A scenario's `training` block with the settings for an algorithm: flat if it is the block's own, else under the algorithm's
 * name. Other libraries' names of the same settings are removed, as they would say something else.
 */
export function tunedBlock(block: Block, algorithm: TrainingAlgorithm, settings: Block): Block {
  const own = block.algorithm ?? 'ppo'
  if (own === algorithm) return { algorithm, ...without(block, algorithm, settings), ...settings }
  const nested = (block[algorithm] ?? {}) as Block
  return { ...block, [algorithm]: { ...without(nested, algorithm, settings), ...settings } }
}

function without(block: Block, algorithm: TrainingAlgorithm, settings: Block): Block {
  const { aliases } = algorithmSettings[algorithm]
  const replaced = (name: string) => Object.hasOwn(aliases, name) && Object.hasOwn(settings, aliases[name])
  return Object.fromEntries(Object.entries(block).filter(([name]) => !replaced(name)))
}

export type BlockChange = { name: string; before: unknown; after: unknown }

/** What differs, by setting; those of another algorithm's block as `dqn.gamma`. */
export function blockChanges(before: Block, after: Block, prefix = ''): BlockChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [a, b] = [before[name], after[name]]
    if (JSON.stringify(a) === JSON.stringify(b)) return []
    if (isBlock(b) && (a === undefined || isBlock(a))) return blockChanges(a ?? {}, b, `${prefix}${name}.`)
    return [{ name: `${prefix}${name}`, before: a, after: b }]
  })
}

function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Writes the block into a scenario's package.json; everything else, and the indentation, stays as it is. */
export async function writeTrainingBlock(folder: string, block: Block, runtime: Runtime): Promise<string> {
  const path = join(folder, 'package.json')
  const text = await namingFile(path, () => readFile(path, 'utf8'))
  const manifest = JSON.parse(text) as { agentgym: Block }
  manifest.agentgym.training = block
  const indent = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? '  '
  await runtime.writeAtomically(path, `${JSON.stringify(manifest, null, indent)}\n`)
  return path
}
