import { createLogUpdate } from 'log-update'
import type { OutputStream } from '../command-io.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { liveBlock } from './live-block.ts'
import { planLines } from './plan-lines.ts'
import { resultLines } from './result-lines.ts'
import { advanceRemote, advanceRunState, type RunState, startRunState } from './run-state.ts'
import type { TrainingView } from './training-view.ts'

const redrawEveryMs = 100

export type LiveViewOptions = { terminal: Terminal; verbose: boolean; stream: OutputStream; initial?: RunState }

/** A block of a few lines at the end of the screen, drawn over as the run goes on. */
export function liveView({ terminal, verbose, stream, initial }: LiveViewOptions): TrainingView {
  const update = createLogUpdate(stream)
  let state = initial
  let stopping = false
  let timer: NodeJS.Timeout | undefined
  let drawn: RunState | undefined
  const draw = () => {
    if (!state) return
    drawn = state
    update(liveBlock(state, terminal, terminal.columns() - 1, stopping).join('\n'))
  }
  const begin = () => {
    draw()
    timer = setInterval(() => {
      if (state !== drawn) draw()
    }, redrawEveryMs)
    stream.on('resize', draw)
  }
  if (state) begin()
  return {
    start(plan) {
      state = startRunState(plan)
      stream.write(`${planLines(plan, terminal, verbose).join('\n')}\n`)
      begin()
    },
    event(event) {
      if (state) state = advanceRunState(state, event)
    },
    remote(update) {
      if (state) state = advanceRemote(state, update)
    },
    stopping() {
      stopping = true
      draw()
    },
    async close() {
      clearInterval(timer)
      stream.off('resize', draw)
      update.clear()
      if (state?.progress)
        update(
          liveBlock(state, terminal, terminal.columns() - 1, stopping)
            .slice(0, -1)
            .join('\n'),
        )
      update.done()
    },
    finish(result, end) {
      stream.write(`${resultLines(result, terminal, end).join('\n')}\n`)
    },
  }
}
