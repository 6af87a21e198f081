import type { ScenarioProfile } from '@agentgym/runtime'
import type { Command } from 'commander'
import type { CommandContext, MakeAction } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/scenarios.ts'
import { formatBytes, formatValue } from '../terminal/format-values.ts'
import { progressBar } from '../terminal/progress.ts'
import { indented, renderTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { safeText } from '../terminal/text.ts'

/** `agentgym scenario profile`. */
export function addScenarioProfile(scenario: Command, action: MakeAction): void {
  scenario
    .command('profile')
    .argument('[DIR]', 'scenario folder or built-in name', '.')
    .description('show where a scenario spends its time and memory, by phase and function')
    .action(action(scenarioProfile))
}

/** Plays random actions in the sandbox with V8's profilers on. */
async function scenarioProfile(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  const scenario = await runtime.loadScenario(folder)
  const { name, version } = scenario.package
  const { terminal } = context
  context.print(`${terminal.symbols.next} Profiling ${safeText(`${name}@${version}`, 240)}`)
  const profile = await runtime.profileScenario(scenario)
  context.printJson({ name, version, ...profile })
  for (const line of profileLines(profile, terminal)) context.print(line)
}

const SHOWN = 15
const BAR = 24

/** Speed, then phases as bars, then the functions that cost most. */
export function profileLines(profile: ScenarioProfile, terminal: Terminal): string[] {
  const { paint } = terminal
  const { steps_per_second: speed, bytes_per_step: bytes, collections, episodes, steps, samples } = profile
  const summary = [
    `${Math.round(speed).toLocaleString('en')} steps a second`,
    `${formatBytes(Math.round(bytes))} allocated a step`,
    `${collections} garbage collection${collections === 1 ? '' : 's'} seen`,
    `${episodes.toLocaleString('en')} episodes ended in ${steps.toLocaleString('en')} steps`,
  ]
  const ended =
    episodes > 0 ? [] : [paint.warn('  No episode ended while it was profiled: metrics were never asked for.')]
  const phases = profile.phases.map(({ phase, share, bytes_per_step: allocated }) => {
    return `  ${phase.padEnd(18)}${progressBar(share, BAR, terminal)}  ${percent(share)}  ${paint.dim(`${formatBytes(Math.round(allocated))} a step`)}`
  })
  const columns = [
    { title: 'Function', shrink: true },
    { title: 'Self', align: 'right' as const },
    { title: 'Total', align: 'right' as const },
    { title: 'Bytes/step', align: 'right' as const },
    { title: 'Place', shrink: true },
  ]
  const rows = profile.functions
    .slice(0, SHOWN)
    .map(({ name, self, total, bytes_per_step: allocated, file, line }) => [
      safeText(name, 60),
      percent(self).trim(),
      percent(total).trim(),
      formatValue(Math.round(allocated)),
      safeText(`${file}:${line}`, 120),
    ])
  const table = rows.length === 0 ? [] : renderTable(columns, rows, indented(terminal)).map((line) => `  ${line}`)
  const source = paint.dim(`  from ${samples.toLocaleString('en')} samples of random play, seed ${profile.seed}`)
  return [...summary.map((line) => `  ${line}`), ...ended, '', ...phases, '', ...table, source]
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`.padStart(6)
}
