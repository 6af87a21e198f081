import { AgentGymError } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { exportTo } from '../registry/export-to.ts'
import { shortId } from '../registry/find-by-id.ts'
import { clientOf, explained } from '../registry/registry-api.ts'
import { findRun } from '../runs/find-run.ts'
import { runPath } from '../runs/run-api.ts'

export type RunsExportFlags = { csv?: boolean; tensorboard?: boolean; trajectories?: boolean; out?: string }

/** What may be exported: its address below the run's, and the file's name here. TensorBoard looks for `tfevents` in it. */
const formats = {
  csv: { path: 'metrics.csv', file: (id: string) => `run-${id}.csv` },
  tensorboard: { path: 'metrics.tfevents', file: (id: string) => `run-${id}.tfevents` },
  trajectories: { path: 'trajectories', file: (id: string) => `run-${id}-trajectories.ndjson` },
} as const
type Format = keyof typeof formats

/** `agentgym runs export`: a run's learning curve or sampled trajectories as a file; `--out -` writes to stdout. */
export async function runsExport(text: string, flags: RunsExportFlags, context: CommandContext): Promise<void> {
  const format = formatOf(flags)
  const connection = await findConnection(context)
  const run = await findRun(connection, text)
  const { path, file } = formats[format]
  const fetch = () => explained(connection, () => clientOf(connection).send(`${runPath(run.id)}/${path}`))
  const about = { run: run.id, format }
  const bytes = await exportTo(flags.out ?? file(shortId(run.id)), { option: '--out', fetch, about }, context)
  if (format === 'trajectories' && bytes === 0) {
    const { symbols } = context.terminal
    context.say(`${symbols.warning} No trajectory was sampled: the run was started without --trajectories N`)
  }
}

function formatOf(flags: RunsExportFlags): Format {
  const chosen = (Object.keys(formats) as Format[]).filter((format) => flags[format])
  if (chosen.length <= 1) return chosen[0] ?? 'csv'
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `one export has one format, and ${chosen.map((format) => `--${format}`).join(' and ')} were given`,
    hint: 'Run the command once for each.',
  })
}
