import { AgentGymError } from '@agentgym/contract'
import type { WorkerEvent } from '@agentgym/runtime'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { explained } from '../registry/registry-api.ts'
import { formatDuration } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import type { Terminal } from '../terminal/terminal.ts'

const besidePollMs = 500

export type WorkerFlags = { server?: string }

/** `agentgym worker`: checks what authors upload to a server, until Ctrl-C. */
export async function worker(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const connection = await findConnection(flags.server)
  if (connection.token === null) {
    throw new AgentGymError({
      code: 'unauthenticated',
      message: 'a worker needs a token with the scope worker',
      hint: 'Set AGENTGYM_TOKEN to one that an operator of the server makes: agentgym token create NAME --scope worker.',
      data: { server: connection.server },
    })
  }
  const runtime = await context.runtime()
  const interrupt = cancelOnInterrupt(() => {})
  // Started by `serve`, it ends with it, however that ended.
  const orphaned = () => interrupt.interrupt()
  process.on('disconnect', orphaned)
  // Under `serve`, which has said where it serves, only what happens is worth a line.
  const beside = process.channel !== undefined
  if (!beside) context.say(`${context.terminal.symbols.next} Check packages for ${connection.server}. Ctrl-C stops.`)
  const { server, token } = connection
  try {
    await explained(connection, () =>
      runtime.runCheckWorker({
        server,
        token: String(token),
        signal: interrupt.signal,
        // Next door, asking costs nothing, and an author waits.
        ...(beside ? { pollMs: besidePollMs } : {}),
        onEvent: (event) => {
          context.sayJson(event)
          const line = eventLine(event, context.terminal, beside)
          if (line !== undefined) context.say(line)
        },
      }),
    )
  } finally {
    process.off('disconnect', orphaned)
    interrupt.release()
    if (process.connected) process.disconnect()
  }
}

function eventLine(event: WorkerEvent, terminal: Terminal, beside: boolean): string | undefined {
  const { paint, symbols } = terminal
  const name = 'package' in event ? paint.bold(safeText(event.package, 240)) : ''
  switch (event.event) {
    case 'waiting':
      return beside ? undefined : paint.dim('  Nothing to check; waiting.')
    case 'leased':
      return `${symbols.next} Check ${name}`
    case 'finished':
      return event.ok
        ? `${paint.accent(symbols.ok)} ${name} passes its checks`
        : `${paint.fail(symbols.failed)} ${name} fails: ${safeText(event.failed.join(', '), 300)}`
    case 'lost':
      return `${symbols.warning} ${name} has gone to another worker`
    case 'failed':
      return `${symbols.warning} ${name} could not be checked, and will be again: ${safeText(event.error.message, 300)}`
    case 'unreachable':
      return `${symbols.warning} ${safeText(event.error.message, 200)} Again in ${formatDuration(event.retryMs / 1000)}.`
  }
}
