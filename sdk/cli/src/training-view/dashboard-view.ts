import type { TrainingEvent } from '@agentgym/contract'
import { type Instance, render, useInput, useWindowSize } from 'ink'
import { createElement, type ReactElement, useEffect, useState } from 'react'
import type { InputStream } from '../command-io.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { Dashboard } from './dashboard.ts'
import { liveBlock } from './live-block.ts'
import { type LiveViewOptions, liveView } from './live-view.ts'
import { planLines } from './plan-lines.ts'
import { resultLines } from './result-lines.ts'
import { advanceRemote, advanceRunState, type RunState, startRunState } from './run-state.ts'
import type { TrainingPlan } from './training-plan.ts'
import type { TrainingView } from './training-view.ts'

const redrawEveryMs = 100

export type DashboardViewOptions = Omit<LiveViewOptions, 'initial'> & {
  input: InputStream
  /** Ctrl-C was pressed; in raw mode the terminal sends no signal. */
  onInterrupt: () => void
}

/**
 * The full-screen dashboard on the terminal's alternate screen. `q` leaves it for the live block while the run goes on;
 * a fault while drawing does the same, so that a picture never ends a run.
 */
export function dashboardView(options: DashboardViewOptions): TrainingView {
  let screen: Screen | undefined
  let state: RunState | undefined
  let stopping = false
  // What draws once the dashboard was left.
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
      // The dashboard is gone with its screen; the live block left its last lines here already.
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
    // Ink asks for a terminal's streams, which these are: the dashboard opens on nothing else.
    stdout: stream as NodeJS.WriteStream,
    stdin: input as NodeJS.ReadStream,
    exitOnCtrlC: false,
    alternateScreen: true,
    incrementalRendering: true,
    // A person asked for the screen and the stream is a terminal: CI variables in the environment change nothing.
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
  // One row less than the screen: filling the last one makes the terminal scroll.
  return snapshot ? createElement(Dashboard, { ...snapshot, terminal, columns, rows: Math.max(6, rows - 1) }) : null
}
