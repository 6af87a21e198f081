import type { ProgressEvent, TrainingEvent } from '@agentgym/contract'
import { Box, type Instance, render, Text, useInput, useWindowSize } from 'ink'
import { createElement, createElement as h, type ReactElement, useEffect, useState } from 'react'
import type { InputStream } from '../command-io.ts'
import { type ChartRow, curveChart } from '../terminal/charts.ts'
import { formatCount, formatDuration, formatTarget, formatValue } from '../terminal/format-values.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { fitText, padText, safeText } from '../terminal/text.ts'
import { type LiveViewOptions, liveBlock, liveView, stageText, startText } from './live-view.ts'
import type { TrainingPlan } from './run-state.ts'
import { advanceRemote, advanceRunState, costText, type RunState, secondsLeft, startRunState } from './run-state.ts'
import { planLines, resultLines } from './summary-lines.ts'
import type { TrainingView } from './training-view.ts'

type DashboardProps = {
  state: RunState
  terminal: Terminal
  columns: number
  rows: number
  stopping: boolean
}

type Layout = { chart: number; section: number; log: number; lossesWidth: number; targetsWidth: number }

const columnGap = 3

/**
 * The whole screen of `train --watch`: the return curve large, then metrics against their targets beside the losses, then
 * the log. Exactly `rows` rows; laid out for 80 × 24 and up, and still legible below.
 */
export function Dashboard({ state, terminal, columns, rows, stopping }: DashboardProps): ReactElement {
  const style = inkStyle(terminal)
  const layout = planLayout(state, columns, rows)
  return h(
    Box,
    { flexDirection: 'column', width: columns, height: rows },
    h(Header, { key: 'header', state, terminal, columns }),
    layout.chart > 0 && h(Chart, { key: 'chart', state, terminal, columns, height: layout.chart }),
    h(
      Box,
      { key: 'section', height: layout.section, columnGap },
      h(Targets, { key: 'targets', state, terminal, width: layout.targetsWidth, rows: layout.section }),
      layout.lossesWidth > 0 && h(Losses, { key: 'losses', state, terminal, width: layout.lossesWidth }),
    ),
    layout.log > 0 && h(Log, { key: 'log', state, terminal, columns, rows: layout.log }),
    h(Box, { key: 'space', flexGrow: 1 }),
    h(Text, { key: 'foot', ...style.dim, wrap: 'truncate' }, footer(state, terminal, stopping, columns)),
  )
}

function planLayout(state: RunState, columns: number, rows: number): Layout {
  const losses = columns >= 64 && rows >= 17
  const lossesWidth = losses ? Math.min(36, Math.max(27, Math.floor(columns * 0.4))) : 0
  const header = 4
  const foot = 1
  const targets = 1 + Math.max(1, state.criteria.length)
  const section = Math.min(losses ? Math.max(7, targets) : targets, Math.max(2, rows - 12))
  const spare = Math.max(0, rows - header - foot - section)
  // Two rows of log at 24 rows; a quarter of what a taller screen adds.
  const log = spare < 9 ? 0 : Math.min(12, 2 + Math.floor((spare - 9) / 4))
  return {
    chart: spare - log >= 3 ? spare - log : 0,
    section,
    log,
    lossesWidth,
    targetsWidth: losses ? columns - columnGap - lossesWidth : columns,
  }
}

type PartProps = { state: RunState; terminal: Terminal; columns: number }

function Header({ state, terminal, columns }: PartProps): ReactElement {
  const style = inkStyle(terminal)
  const { plan, progress } = state
  const name = `${safeText(plan.scenario, 200)} ${terminal.symbols.dot} ${plan.algorithm} ${terminal.symbols.dot} seed ${plan.seed}`
  const done = progress?.steps ?? 0
  const total = totalSteps(state)
  const fraction = Math.min(1, done / total)
  const counts = ` ${`${Math.floor(fraction * 100)}%`.padStart(4)}  ${formatCount(done)} / ${formatCount(total)} steps`
  const barWidth = Math.max(4, columns - counts.length)
  const filled = Math.round(fraction * barWidth)
  return h(
    Box,
    { flexDirection: 'column', height: 4 },
    h(Text, { key: 'name', ...style.bold, wrap: 'truncate' }, fitText(name, columns, terminal.symbols.ellipsis)),
    h(
      Text,
      { key: 'bar', wrap: 'truncate' },
      h(Text, { key: 'done', ...style.accent }, terminal.symbols.barDone.repeat(filled)),
      h(Text, { key: 'left', ...style.dim }, terminal.symbols.barLeft.repeat(barWidth - filled)),
      counts,
    ),
    h(Text, { key: 'rate', wrap: 'truncate' }, fitText(rateText(state, terminal), columns, terminal.symbols.ellipsis)),
    h(
      Text,
      { key: 'title', ...style.dim, wrap: 'truncate' },
      fitText(curveTitle(state), columns, terminal.symbols.ellipsis),
    ),
  )
}

// Whole rollouts: may differ slightly from the requested steps.
function totalSteps({ plan, progress }: RunState): number {
  return progress?.steps_total ?? plan.steps
}

function rateText(state: RunState, terminal: Terminal): string {
  const { progress, remote } = state
  if (!progress) return startText(state)
  const cost = remote === null ? undefined : costText(remote.run)
  const left = secondsLeft(progress)
  return [
    `${formatCount(progress.steps_per_second)} steps/s`,
    `${formatDuration(progress.seconds)} elapsed`,
    ...(left ? [`${formatDuration(left)} left`] : []),
    ...(cost === undefined ? [] : [cost]),
    `${formatCount(progress.episodes_total)} episodes`,
    `length ${formatValue(progress.length_mean)}`,
  ].join(` ${terminal.symbols.dot} `)
}

function curveTitle(state: RunState): string {
  const target = Object.hasOwn(state.plan.success, 'return_mean')
    ? `, target ${formatTarget(state.plan.success.return_mean)} dashed`
    : ''
  return `Mean return of the last 100 episodes: ${formatValue(state.progress?.return_mean)}${target}`
}

function Chart({ state, terminal, columns, height }: PartProps & { height: number }): ReactElement {
  const style = inkStyle(terminal)
  const target = Object.hasOwn(state.plan.success, 'return_mean') ? state.plan.success.return_mean : undefined
  const points = state.returns.map(({ steps, value }) => ({ x: steps, y: value }))
  const rows = curveChart(points, {
    width: columns,
    height,
    xEnd: totalSteps(state),
    target,
    unicode: terminal.unicode,
  })
  const row = ({ axis, plot, target: onTarget }: ChartRow, index: number) =>
    h(
      Text,
      { key: index, wrap: 'truncate' },
      h(Text, { key: 'axis', ...style.dim }, axis),
      // Dim the dashes of the target, but not the curve crossing them.
      ...(onTarget ? plot.split(/([╌-]+)/) : [plot]).map((part, at) =>
        h(Text, { key: at, ...(at % 2 === 1 ? style.dim : style.accent) }, part),
      ),
    )
  return h(Box, { flexDirection: 'column', height }, ...rows.map(row))
}

function Targets({
  state,
  terminal,
  width,
  rows,
}: {
  state: RunState
  terminal: Terminal
  width: number
  rows: number
}): ReactElement {
  const style = inkStyle(terminal)
  const figure = 9
  const status = 9
  const name = Math.max(6, width - 2 * figure - status - 2)
  const line = (metric: string, current: string, target: string, word: string) =>
    `${padText(fitText(metric, name, terminal.symbols.ellipsis), name)}${padText(current, figure, 'right')}${padText(target, figure, 'right')}  ${padText(word, status)}`
  const lines = state.criteria.slice(0, rows - 1).map((criterion) => {
    const word =
      criterion.current === null
        ? '-'
        : criterion.reached
          ? `${terminal.symbols.ok} reached`
          : `${terminal.symbols.dot} below`
    const text = line(criterion.metric, formatValue(criterion.current), formatTarget(criterion.target), word)
    return h(Text, { key: criterion.metric, ...(criterion.reached ? style.accent : {}), wrap: 'truncate' }, text)
  })
  const none = h(Text, { key: 'none', ...style.dim, wrap: 'truncate' }, 'The scenario has no targets')
  return h(
    Box,
    { flexDirection: 'column', width },
    h(Text, { key: 'head', ...style.dim, wrap: 'truncate' }, line('Metric', 'current', 'target', 'status')),
    ...(lines.length > 0 ? lines : [none]),
  )
}

function Losses({ state, terminal, width }: { state: RunState; terminal: Terminal; width: number }): ReactElement {
  const style = inkStyle(terminal)
  const learner = state.progress?.learner
  const figures = learnerFigures(state.plan.algorithm, learner)
  const line = (name: string, value: string) => padText(name, Math.max(0, width - 10)) + padText(value, 10, 'right')
  return h(
    Box,
    { flexDirection: 'column', width },
    h(Text, { key: 'head', ...style.dim, wrap: 'truncate' }, line('Learner', 'now')),
    ...figures.map(([name, value]) => h(Text, { key: name, wrap: 'truncate' }, line(name, formatValue(value)))),
  )
}

type Figures = [string, number | null | undefined][]

/** Six lines, of what the algorithm reports. */
function learnerFigures(algorithm: string, learner: ProgressEvent['learner'] | undefined): Figures {
  const norm: Figures = [
    ['gradient norm', learner?.gradient_norm],
    ['learning rate', learner?.learning_rate],
  ]
  if (algorithm === 'dqn') {
    return [
      ['value loss', learner?.value_loss],
      ['mean value', learner?.value_mean],
      ['exploration rate', learner?.exploration_rate],
      ...norm,
    ]
  }
  const policy: Figures = [
    ['policy loss', learner?.policy_loss],
    algorithm === 'grpo' ? ['KL to reference', learner?.kl_to_reference] : ['value loss', learner?.value_loss],
    ['entropy', learner?.entropy],
  ]
  if (algorithm === 'sac') {
    return [
      ...policy,
      ['entropy coefficient', learner?.entropy_coefficient],
      ['mean value', learner?.value_mean],
      ['learning rate', learner?.learning_rate],
    ]
  }
  if (algorithm === 'a2c') return [...policy, ['explained variance', learner?.explained_variance], ...norm]
  return [
    ...policy,
    ['approximate KL', learner?.approximate_kl],
    ['clip fraction', learner?.clip_fraction],
    algorithm === 'grpo'
      ? ['groups all equal', learner?.zero_variance_groups]
      : ['explained variance', learner?.explained_variance],
  ]
}

function Log({ state, terminal, columns, rows }: PartProps & { rows: number }): ReactElement {
  const style = inkStyle(terminal)
  const lines = state.log.slice(-rows).map(({ steps, text }) => `${padText(formatCount(steps), 11, 'right')}  ${text}`)
  return h(
    Box,
    { flexDirection: 'column', height: rows },
    ...lines.map((line, index) =>
      h(Text, { key: index, ...style.dim, wrap: 'truncate' }, fitText(line, columns, terminal.symbols.ellipsis)),
    ),
  )
}

function footer(state: RunState, terminal: Terminal, stopping: boolean, columns: number): string {
  const { dot } = terminal.symbols
  const keys = state.plan.remote
    ? `q close ${dot} Ctrl-C detach (the run continues)`
    : `q close (the run continues) ${dot} Ctrl-C stop and keep a checkpoint`
  return fitText(
    (state.plan.remote && !state.progress ? undefined : stageText(state, stopping)) ?? keys,
    columns,
    terminal.symbols.ellipsis,
  )
}

type TextStyle = { color?: string; dimColor?: boolean; bold?: boolean }

function inkStyle({ color }: Terminal): { accent: TextStyle; dim: TextStyle; bold: TextStyle } {
  return color
    ? { accent: { color: 'green' }, dim: { dimColor: true }, bold: { bold: true } }
    : { accent: {}, dim: {}, bold: {} }
}

const redrawEveryMs = 100

type DashboardViewOptions = Omit<LiveViewOptions, 'initial'> & {
  input: InputStream
  /** Ctrl-C was pressed; in raw mode the terminal sends no signal. */
  onInterrupt: () => void
}

/**
 * The full-screen dashboard on the terminal's alternate screen. `q` switches to the live block while the run continues; so
 * does an error while drawing, which must never end a run.
 */
export function dashboardView(options: DashboardViewOptions): TrainingView {
  let screen: Screen | undefined
  let state: RunState | undefined
  let stopping = false
  // The view after the dashboard was closed.
  let after: TrainingView | undefined

  let closed = false

  const leave = async () => {
    await screen?.close()
    if (after || closed) return
    after = liveView({ ...options, initial: state })
    if (stopping) after.stopping()
  }
  return {
    start(plan: TrainingPlan) {
      state = startRunState(plan)
      options.stream.write(`${planLines(plan, options.terminal, options.verbose).join('\n')}\n`)
      screen = openScreen(options, () => state && { state, stopping }, leave)
    },
    event(event: TrainingEvent) {
      if (after) after.event(event)
      else if (state) state = advanceRunState(state, event)
    },
    remote(update) {
      if (after) after.remote(update)
      else if (state) state = advanceRemote(state, update)
    },
    stopping() {
      stopping = true
      after?.stopping()
    },
    async close() {
      closed = true
      await screen?.close()
      await after?.close()
    },
    finish(result, end) {
      const { stream, terminal } = options
      // The dashboard disappears with its screen; the live block has left its last lines.
      const last = state && !after ? liveBlock(state, terminal, terminal.columns() - 1, false).slice(0, -1) : []
      stream.write(`${[...last, ...resultLines(result, terminal, end)].join('\n')}\n`)
    },
  }
}

type Screen = { close: () => Promise<void> }
type Snapshot = { state: RunState; stopping: boolean }

function openScreen(options: DashboardViewOptions, read: () => Snapshot | undefined, leave: () => void): Screen {
  const { terminal, stream, input, onInterrupt } = options
  const instance: Instance = render(createElement(Live, { terminal, read, leave, onInterrupt }), {
    // Ink requires terminal streams; the dashboard is only opened on those.
    stdout: stream as NodeJS.WriteStream,
    stdin: input as NodeJS.ReadStream,
    exitOnCtrlC: false,
    alternateScreen: true,
    incrementalRendering: true,
    // The user asked for it on a terminal, so CI variables in the environment do not matter.
    interactive: true,
  })
  let closed = false
  const exited = instance.waitUntilExit().then(
    () => {},
    () => {
      closed = true
      setImmediate(leave)
    },
  )
  return {
    async close() {
      if (!closed) instance.unmount()
      closed = true
      await exited
    },
  }
}

type LiveProps = { terminal: Terminal; read: () => Snapshot | undefined; leave: () => void; onInterrupt: () => void }

function Live({ terminal, read, leave, onInterrupt }: LiveProps): ReactElement | null {
  const { columns, rows } = useWindowSize()
  const [snapshot, setSnapshot] = useState(read)
  useEffect(() => {
    const timer = setInterval(() => {
      const next = read()
      setSnapshot((last) => (last?.state === next?.state && last?.stopping === next?.stopping ? last : next))
    }, redrawEveryMs)
    return () => clearInterval(timer)
  }, [read])
  useInput((input, key) => {
    if (key.ctrl && input === 'c') onInterrupt()
    else if (input === 'q') leave()
  })
  // One row less than the screen: filling the last row would scroll the terminal.
  return snapshot ? createElement(Dashboard, { ...snapshot, terminal, columns, rows: Math.max(6, rows - 1) }) : null
}
