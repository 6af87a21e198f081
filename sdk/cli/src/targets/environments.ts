import { AgentGymError, parseJson, type SuccessCriteria } from '@agentgym/contract'
import type { OpenedEnvironment } from '@agentgym/runtime'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import type { CommandContext } from '../command-context.ts'
import { wholeNumber } from '../option-values.ts'
import { safeText } from '../terminal/text.ts'

/** Of commands that play an environment of the user's. */
export type EnvironmentFlags = {
  env?: string
  envArguments?: Record<string, unknown>
  python?: string
  stepTimeout?: number
}

const timeoutRange = { least: 1, greatest: 86_400 }

/** Adds `--env` and what says how it is reached. */
export function addEnvironmentOptions(command: Command, about: string): Command {
  return command
    .option('--env <ENV>', about)
    .option(
      '--env-arguments <JSON>',
      'of gymnasium:ID: keyword arguments, such as \'{"is_slippery": false}\'',
      jsonObject,
    )
    .addOption(new Option('--python <FILE>', 'of gymnasium:ID: a Python that has Gymnasium').default('python3'))
    .option(
      '--step-timeout <SECONDS>',
      'with --env: time limit of a step, for all environments (default: 60)',
      wholeNumber('step-timeout', timeoutRange),
    )
}

function jsonObject(text: string): Record<string, unknown> {
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new AgentGymError({
    code: 'config_invalid',
    message: `--env-arguments is ${JSON.stringify(text.slice(0, 100))}, which is no JSON object`,
    hint: `Give keyword arguments as JSON, such as --env-arguments '{"is_slippery": false}'.`,
    data: { field: 'env-arguments' },
  })
}

/** Starts or reaches the environment that `--env` names. Its process's own output goes to stderr, escaped. */
export async function openEnvironment(
  env: string,
  { python, stepTimeout, envArguments }: EnvironmentFlags,
  success: SuccessCriteria,
  context: CommandContext,
): Promise<OpenedEnvironment> {
  const runtime = await context.runtime()
  const target = runtime.parseEnvironmentTarget(env)
  const onOutput = (text: string) => {
    for (const line of text.trimEnd().split('\n')) context.io.stderr.write(`${safeText(line, 1_000)}\n`)
  }
  const { AGENTGYM_ENV_KEY: key } = context.io.environment
  return runtime.openEnvironmentTarget({
    ...{ target, success, python },
    ...(envArguments === undefined ? {} : { arguments: envArguments }),
    ...(stepTimeout === undefined ? {} : { timeoutMs: 1_000 * stepTimeout }),
    ...(context.verbose ? { onOutput } : {}),
    ...(key === undefined || key === '' ? {} : { key }),
  })
}
