import type { PolicySpec } from '@agentgym/contract'
import { actionOutputNames, STATE_INPUT, STATE_OUTPUT, stateSize } from '@agentgym/contract/model'
import { distributionSize, gaussianSize } from './distribution-columns.ts'
import { type FloatTensor, tensor } from './tensors.ts'

/** What a model is run with: the tensors of one batch size, made once. Needs no runtime: in Node and in pages alike. */
export type BatchTensors = {
  feeds: Record<string, FloatTensor>
  /** Outputs, by name; a run writes them. */
  fetches: Record<string, FloatTensor>
  /** The tensors of the policy's memory; null for one without. After a run, `next` becomes `now`. */
  memory: SessionState | null
  /** See `PolicySession`; filled by `read`. */
  distribution: Float32Array
  values: Float32Array
  logStd: Float32Array
  /** Writes [batch, observation row] into `feeds`. */
  write(rows: Float32Array): void
  /** Reads `fetches` into `distribution` and `logStd`. */
  read(): void
}

export type SessionState = { now: Float32Array; next: Float32Array }

export function batchTensors(spec: PolicySpec, batch: number): BatchTensors {
  const feeds: Record<string, FloatTensor> = {}
  for (const leaf of spec.observation) feeds[leaf.name] = tensor([batch, leaf.size])
  const values = tensor([batch])
  const fetches: Record<string, FloatTensor> = { value: values }
  const chosen = spec.action.filter(({ fixed }) => fixed === undefined)
  const outputs = chosen.map((leaf) => {
    const names = actionOutputNames(leaf)
    const size = leaf.kind === 'box' ? leaf.size : leaf.counts.reduce((a, b) => a + b, 0)
    const row = tensor([batch, size])
    fetches['logits' in names ? names.logits : names.mean] = row
    const logStd = 'logStd' in names ? tensor([batch, size]) : null
    if (logStd !== null && 'logStd' in names) fetches[names.logStd] = logStd
    return { leaf, size, row, logStd }
  })
  const distributionRow = distributionSize(spec)
  const distribution = new Float32Array(batch * distributionRow)
  const logStd = new Float32Array(gaussianSize(spec))
  const memory = addState(feeds, fetches, [STATE_INPUT, STATE_OUTPUT], [batch, stateSize(spec)])
  return {
    feeds,
    fetches,
    memory,
    distribution,
    values: values.data,
    logStd,
    write(rows) {
      for (const leaf of spec.observation) {
        copyColumns(rows, rowSize(spec), leaf.offset, feeds[leaf.name].data, leaf.size, 0, leaf.size, batch)
      }
    },
    read() {
      for (const { leaf, size, row, logStd: deviations } of outputs) {
        copyColumns(row.data, size, 0, distribution, distributionRow, leaf.distributionOffset, size, batch)
        if (deviations === null) continue
        if (spec.head === 'squashed_gaussian') {
          const column = distributionRow / 2 + leaf.logStdOffset
          copyColumns(deviations.data, size, 0, distribution, distributionRow, column, size, batch)
        } else logStd.set(deviations.data.subarray(0, size), leaf.logStdOffset)
      }
    },
  }
}

/** The tensors of a policy's memory; null where it has none. */
export function addState(
  feeds: Record<string, FloatTensor>,
  fetches: Record<string, FloatTensor>,
  [input, output]: [string, string],
  dims: [number, number],
): SessionState | null {
  if (dims[1] === 0) return null
  const [now, next] = [tensor(dims), tensor(dims)]
  feeds[input] = now
  fetches[output] = next
  return { now: now.data, next: next.data }
}

export function rowSize(spec: PolicySpec): number {
  return spec.observation.reduce((sum, leaf) => sum + leaf.size, 0)
}

function copyColumns(
  from: Float32Array,
  fromRow: number,
  fromColumn: number,
  to: Float32Array,
  toRow: number,
  toColumn: number,
  columns: number,
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < columns; i++) to[row * toRow + toColumn + i] = from[row * fromRow + fromColumn + i]
  }
}
