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
  /** Where a person pays. */
  checkoutUrl: string | null
  read(signal: AbortSignal): Promise<State>
  hasEnded(state: State): boolean
}

/**
 * Says where to pay and waits until the server has heard what became of it. Undefined where the user leaves (Ctrl-C),
 * which changes nothing about the payment. A server that restarts is waited for.
 */
export async function awaitPayment<State>(
  awaited: AwaitedPayment<State>,
  context: CommandContext,
): Promise<State | undefined> {
  sayWhere(awaited.checkoutUrl, context)
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

/** One line says where to pay, for a person or for the program that reads JSON lines. */
export function sayWhere(checkoutUrl: string | null, { say, terminal }: CommandContext): void {
  const { paint, symbols } = terminal
  if (checkoutUrl === null) say(`${symbols.next} The payment provider has not confirmed it yet`)
  else say(`${symbols.next} Pay here: ${paint.accent(safeText(checkoutUrl, 2_000))}`)
}

async function readAgain<State>({ read }: AwaitedPayment<State>, signal: AbortSignal): Promise<State | undefined> {
  try {
    return await read(signal)
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'server_unreachable' && !signal.aborted) return undefined
    throw error
  }
}

/** How long it has taken; nothing where nobody watches. */
function waitingLine({ terminal, json, io }: CommandContext) {
  if (json || !terminal.live) return { update: () => {}, close: () => {} }
  const draw = createLogUpdate(io.stdout)
  const started = performance.now()
  return {
    update: () => {
      const waited = formatDuration((performance.now() - started) / 1000)
      const text = `  Waiting for the payment, ${waited}. Ctrl-C leaves; it counts whenever it comes.`
      draw(terminal.paint.dim(fitText(text, terminal.columns() - 1, terminal.symbols.ellipsis)))
    },
    close: () => {
      draw.clear()
      draw.done()
    },
  }
}
