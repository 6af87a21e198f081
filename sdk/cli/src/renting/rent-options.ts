import { AgentGymError } from '@agentgym/contract'
import type { Command } from 'commander'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { wholeNumber } from '../option-values.ts'
import { type GpuNeedFlags, gpuMemoryOption, gpuMemoryRange, gpuNameOption } from './gather-offers.ts'

/** Options about a rented worker. */
export type RentFlags = GpuNeedFlags & {
  gpuBudget?: string
  gpuHours?: number
  gpuImage?: string
  gpuServer?: string
  gpuWithoutWalls?: string
}

export const defaultHours = 24

export function addRentOptions(command: Command): Command {
  return command
    .option(...gpuMemoryOption, wholeNumber('gpu-memory', gpuMemoryRange))
    .option(...gpuNameOption)
    .option('--gpu-budget <USD>', 'rented GPU: what it may cost, in US dollars, such as 5.00 (default: no limit)')
    .option(
      '--gpu-hours <N>',
      `rented GPU: hours after which it ends (default: ${defaultHours})`,
      wholeNumber('gpu-hours', { least: 1, greatest: 500 }),
    )
    .option('--gpu-image <IMAGE>', "rented GPU: the worker's container image (default: AGENTGYM_WORKER_IMAGE)")
    .option('--gpu-server <URL>', 'rented GPU: address of the server as the worker reaches it (default: yours)')
    .option('--gpu-without-walls <WALLS>', 'rented GPU: parts of the sandbox that the machine may lack')
}

export type WorkerSource = { image: string; token: string; server: string; withoutWalls: string | undefined }

/** What the worker of a run needs. Throws `config_invalid` and `unauthenticated` before anything is started. */
export function workerSource(connection: Connection, flags: RentFlags, context: CommandContext): WorkerSource {
  const machine = machineSource(connection, flags, context)
  const token = context.io.environment.AGENTGYM_WORKER_TOKEN
  if (token) return { ...machine, token }
  throw new AgentGymError({
    code: 'unauthenticated',
    message: 'AGENTGYM_WORKER_TOKEN is not set',
    hint: 'The rented worker needs a token with the scope worker. An operator creates it: agentgym token create rented --username NAME --scope worker --kinds train',
    data: { server: connection.server },
  })
}

/** What every rented worker needs beside a token. Throws `config_invalid`. */
export function machineSource(
  { server }: Connection,
  flags: RentFlags,
  { io }: CommandContext,
): Omit<WorkerSource, 'token'> {
  const { AGENTGYM_WORKER_IMAGE } = io.environment
  const image = flags.gpuImage ?? AGENTGYM_WORKER_IMAGE
  if (!image) {
    const hint = 'Build the worker image, push it to a registry that the provider reaches, and name it by digest.'
    throw invalid('gpu-image', 'A rented GPU needs --gpu-image or AGENTGYM_WORKER_IMAGE, which are not set', hint)
  }
  const reached = flags.gpuServer ?? server
  const url = URL.parse(reached)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw invalid('gpu-server', `--gpu-server is ${JSON.stringify(reached.slice(0, 200))}, which is not an address`)
  if (flags.gpuServer === undefined && /^(localhost|127\.|\[::1\])/.test(url.hostname)) {
    const hint = 'Give the server a public address, or one that the machine reaches, with --gpu-server URL.'
    throw invalid('gpu-server', `A rented machine cannot reach ${server}`, hint)
  }
  return { image, server: reached, withoutWalls: flags.gpuWithoutWalls }
}

function invalid(field: string, message: string, hint = 'Use an http or https address.'): AgentGymError {
  return new AgentGymError({ code: 'config_invalid', message, hint, data: { field } })
}
