import { AgentGymError } from '@agentgym/contract'
import { findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../interrupts.ts'
import { explained } from '../registry/registry-api.ts'
import { workerLine } from '../terminal/worker-line.ts'

const besidePollMs = 500
/** How long a worker whose server has gone tries to give back what it has. */
const orphanMs = 15_000

const workerKinds = ['check', 'evaluate', 'train', 'call'] as const

export type WorkerFlags = { server?: string; kinds?: string; slots?: number; name?: string; price?: number }

/** `agentgym worker`: checks scenarios, evaluates agents, trains them and answers calls of them for a server, until Ctrl-C. */
export async function worker(flags: WorkerFlags, context: CommandContext): Promise<void> {
  const kinds = kindsOf(flags.kinds)
  const priceMinorPerHour = flags.price ?? priceOf(context.io.environment.AGENTGYM_WORKER_PRICE_MINOR)
  const connection = await findConnection(context, flags.server)
  const { server, token } = connection
  if (token === null) {
    throw new AgentGymError({
      code: 'unauthenticated',
      message: 'a worker needs a token with the scope worker',
      hint: 'Set AGENTGYM_TOKEN to one that an operator of the server makes: agentgym token create NAME --scope worker.',
      data: { server },
    })
  }
  const runtime = await context.runtime()
  const { symbols } = context.terminal
  // Under `serve`, which says where it serves and that it stops, only what happens is worth a line.
  const { parent } = context.io
  const beside = parent !== undefined
  const interrupt = cancelOnInterrupt(context, () => {
    if (!beside)
      context.say(`${symbols.next} Stop: what is under way is saved and given back. Ctrl-C again ends at once`)
  })
  const abandoned = new AbortController()
  // Started by `serve`, it ends with it, however that ended.
  const orphaned = () => {
    interrupt.interrupt()
    setTimeout(() => abandoned.abort(), orphanMs).unref()
  }
  const removeListener = parent?.onGone(orphaned)
  if (!beside) context.say(`${symbols.next} Work for ${server}: ${kinds.join(', ')}. Ctrl-C stops.`)
  try {
    await explained(connection, () =>
      runtime.runWorker({
        ...{ server, token, kinds, priceMinorPerHour },
        slots: flags.slots,
        name: flags.name,
        stop: interrupt.signal,
        signal: abandoned.signal,
        // Next door, asking costs nothing, and an author waits.
        ...(beside ? { pollMs: besidePollMs } : {}),
        onEvent: (event) => {
          context.sayJson(event)
          const line = workerLine(event, context.terminal)
          if (line !== undefined && !(beside && event.event === 'waiting')) context.say(line)
        },
      }),
    )
  } finally {
    removeListener?.()
    interrupt.release()
    parent?.disconnect()
  }
}

function kindsOf(text: string | undefined): (typeof workerKinds)[number][] {
  if (text === undefined) return [...workerKinds]
  const words = text.split(',').map((word) => word.trim())
  const kinds = workerKinds.filter((kind) => words.includes(kind))
  if (words.every((word) => workerKinds.some((kind) => kind === word))) return kinds
  throw invalid('kinds', `--kinds is ${text}`, `Name some of ${workerKinds.join(', ')}, separated by commas.`)
}

function priceOf(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  const price = Number(text)
  if (Number.isInteger(price) && price >= 0 && price <= 1e9) return price
  const hint = "Give a whole number of minor units of the server's currency, such as 250 for 2.50 an hour."
  throw invalid('AGENTGYM_WORKER_PRICE_MINOR', `AGENTGYM_WORKER_PRICE_MINOR is ${text}`, hint)
}

function invalid(field: string, message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field } })
}
