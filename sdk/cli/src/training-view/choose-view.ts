import type { CommandContext } from '../command-context.ts'
import type { Interrupt } from '../command-io.ts'
import { jsonView, plainView } from './line-views.ts'
import { liveView } from './live-view.ts'
import type { TrainingView } from './training-view.ts'

/** The view of a run: JSON lines, a full-screen dashboard with `watch`, a live block on a terminal, or plain lines. */
export async function chooseView(
  { watch }: { watch: boolean },
  { terminal, verbose, io, print, json }: CommandContext,
  interrupt: Interrupt,
): Promise<TrainingView> {
  const { stdin, stdout } = io
  if (json) return jsonView((line) => stdout.write(`${line}\n`))
  if (terminal.live && watch && stdin.isTTY) {
    // Ink and React are loaded only when needed.
    const { dashboardView } = await import('./dashboard.ts')
    return dashboardView({ terminal, verbose, stream: stdout, input: stdin, onInterrupt: interrupt.interrupt })
  }
  if (terminal.live) return liveView({ terminal, verbose, stream: stdout })
  return plainView({ terminal, verbose, write: print, now: () => performance.now() })
}
