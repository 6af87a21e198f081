import { once } from 'node:events'
import { AgentGymError } from '@agentgym/contract'
import type { ServedEnvironment } from '@agentgym/runtime/env-server'
import type { CommandContext } from '../command-context.ts'
import { cancelOnInterrupt } from '../command-io.ts'
import { serverKey } from '../server-key.ts'
import { obtainScenarioFolder } from '../targets/scenarios.ts'
import { safeText } from '../terminal/text.ts'
import { warnOfMissingWalls } from '../walls.ts'

export type EnvServeFlags = {
  host: string
  port: number
  maxSessions: number
  sessionTimeout: number
  allowModel: string[]
  withoutKey?: true
  exitWithStdin?: true
}

/** `agentgym env serve`: scenarios behind the protocols of trainers, until Ctrl-C. */
export async function envServe(
  targets: readonly string[],
  { host, port, maxSessions, sessionTimeout, allowModel: allowedModels, withoutKey, exitWithStdin }: EnvServeFlags,
  context: CommandContext,
): Promise<void> {
  const key = serverKey('AGENTGYM_ENV_KEY', host, context, withoutKey)
  const { envServer, listenEnvironments } = await import('@agentgym/runtime/env-server')
  const environments: ServedEnvironment[] = []
  const interrupt = cancelOnInterrupt(context, () => {})
  // The kernel closes the pipe also for a program that was killed.
  if (exitWithStdin) context.io.stdin.once('end', interrupt.interrupt).resume()
  try {
    await warnOfMissingWalls(context)
    for (const target of targets) environments.push(await openTarget(target, environments, context))
    const { app, sessions } = envServer(environments, {
      ...{ key, withoutKey },
      most: maxSessions,
      idleMs: sessionTimeout * 1_000,
      allowedModels,
    })
    const server = await listenEnvironments(app, { host, port })
    announce(environments, server.url, context)
    if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort')
    sessions.close()
    await server.close()
  } finally {
    interrupt.release()
    await Promise.all(environments.map(({ host: processes }) => processes.close()))
  }
}

async function openTarget(
  target: string,
  others: readonly ServedEnvironment[],
  context: CommandContext,
): Promise<ServedEnvironment> {
  const [{ openEnvironment }, { loadScenario }] = await Promise.all([
    import('@agentgym/runtime/env-server'),
    context.runtime(),
  ])
  const scenario = await loadScenario(await obtainScenarioFolder(target, context))
  const environment = await openEnvironment(scenario)
  if (!others.some(({ name }) => name === environment.name)) return environment
  await environment.host.close()
  throw new AgentGymError({
    code: 'usage_invalid',
    message: `two of the scenarios are called ${environment.name}`,
    hint: 'Serve each name once. Scenarios with the same name in other scopes need a server of their own.',
    data: { name: environment.name },
  })
}

function announce(environments: readonly ServedEnvironment[], url: string, context: CommandContext): void {
  const served = environments.map(({ name, package: { name: scenario, version } }, i) => ({
    ...{ name, scenario, version },
    url: i === 0 ? url : `${url}/envs/${name}`,
  }))
  context.printJson({ event: 'listening', url, environments: served })
  const { paint, symbols } = context.terminal
  for (const { scenario, version, url: address } of served) {
    const label = safeText(`${scenario}@${version}`, 240)
    context.print(`${paint.accent(symbols.ok)} Serving ${paint.bold(label)} at ${paint.accent(address)}`)
  }
  context.print(`${symbols.next} OpenEnv clients connect to that address; ${url}/openapi.json describes it.`)
  context.print(`${symbols.next} Gymnasium: AGENTGYM_ENV_SERVER=${url} gives gymnasium.make its address.`)
  context.print(`${symbols.next} Try it: ${paint.accent(`curl -X POST ${url}/reset`)}. Press Ctrl-C to stop.`)
}
