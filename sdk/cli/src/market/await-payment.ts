import { setTimeout as sleep } from 'node:timers/promises'
import { AgentGymError } from '@agentgym/contract'
import { createLogUpdate } from 'log-update'
import { openBrowser } from '../account/log-in.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { formatDuration } from '../terminal/format-values.ts'
import { fitText, safeText } from '../terminal/text.ts'

const pollMs = 1_000

export type AwaitedPayment<State> = {
  /** The payment page. */
  checkoutUrl: string | null
  read(signal: AbortSignal): Promise<State>
  hasEnded(state: State): boolean
}

/**
 * Shows the payment page and waits for the outcome. Undefined when the user stops waiting (Ctrl-C), which does not affect
 * the payment. Waits for a server that is restarting.
 */
export async function awaitPayment<State>(
  awaited: AwaitedPayment<State>,
  context: CommandContext,
): Promise<State | undefined> {
  printPaymentPage(awaited.checkoutUrl, context)
  if (awaited.checkoutUrl !== null && context.terminal.live && !context.json)
    openBrowser(awaited.checkoutUrl, context.io)
  const interrupt = cancelOnInterrupt(context)
  const clock = waitingLine(context)
  try {
    for (;;) {
      const state = await readAgain(awaited, interrupt.signal)
      if (state !== undefined && awaited.hasEnded(state)) return state
      clock.update()
      await sleep(pollMs, undefined, { signal: interrupt.signal })
    }
  } catch (error) {
    if (interrupt.signal.aborted) return undefined
    throw error
  } finally {
    clock.close()
    interrupt.release()
  }
}

/** Prints the payment page. */
export function printPaymentPage(checkoutUrl: string | null, { print, terminal }: CommandContext): void {
  const { paint, symbols } = terminal
  if (checkoutUrl === null) print(`${symbols.next} Waiting for the payment provider to confirm`)
  else print(`${symbols.next} Pay at: ${paint.accent(safeText(checkoutUrl, 2_000))}`)
}

async function readAgain<State>({ read }: AwaitedPayment<State>, signal: AbortSignal): Promise<State | undefined> {
  try {
    return await read(signal)
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'server_unreachable' && !signal.aborted) return undefined
    throw error
  }
}

/** Shows the time waited; only on a terminal. */
function waitingLine({ terminal, json, io }: CommandContext) {
  if (json || !terminal.live) return { update: () => {}, close: () => {} }
  const draw = createLogUpdate(io.stdout)
  const started = performance.now()
  return {
    update: () => {
      const waited = formatDuration((performance.now() - started) / 1000)
      const text = `  Waiting for the payment, ${waited}. Ctrl-C stops waiting; the payment still counts.`
      draw(terminal.paint.dim(fitText(text, terminal.columns() - 1, terminal.symbols.ellipsis)))
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}
