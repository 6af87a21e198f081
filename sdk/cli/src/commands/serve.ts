import type { RunningServer } from '@agentgym/registry'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'

export type ServeFlags = {
  port?: number
  data?: string
  /** False with --no-worker. */
  worker?: boolean
}

/** `agentgym serve`: the registry in this process, until Ctrl-C. */
export async function serve(flags: ServeFlags, context: CommandContext): Promise<void> {
  const registry = await import('@agentgym/registry')
  const interrupt = cancelOnInterrupt(() =>
    context.say(`${context.terminal.symbols.next} Stopping: what is under way ends first`),
  )
  const server = await registry.serve({
    port: flags.port,
    data: flags.data,
    environment: { ...process.env, AGENTGYM_LOG_LEVEL: process.env.AGENTGYM_LOG_LEVEL || logLevel(context) },
  })
  sayServing(server, context)
  await new Promise<void>((resolve) => {
    if (interrupt.signal.aborted) resolve()
    interrupt.signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await server.close()
  interrupt.release()
}

/** Someone who looks at the terminal wants the address and what is wrong; a log file wants every request. */
function logLevel({ terminal, verbose }: CommandContext): string {
  return terminal.live && !verbose ? 'warn' : 'info'
}

function sayServing({ url }: RunningServer, context: CommandContext): void {
  const { paint, symbols } = context.terminal
  context.sayJson({ event: 'serving', url })
  context.say(`${paint.accent(symbols.ok)} AgentGym serves at ${paint.bold(url)}`)
}
