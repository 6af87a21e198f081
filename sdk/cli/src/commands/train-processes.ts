import { AgentGymError } from '@agentgym/contract'
import type { TrainOptions } from '@agentgym/runtime'
import type { Command } from 'commander'
import { wholeNumber } from '../option-values.ts'

const MOST_PROCESSES = 256
const MOST_NODES = 1_000

export type ProcessFlags = { processes?: number; rendezvous?: string; nodes?: number; nodeRank?: number }

/** Options of a run of several processes, named as torchrun's. */
export function addProcessOptions(command: Command): Command {
  const count = (field: string, least: number, greatest: number) => wholeNumber(field, { least, greatest })
  return command
    .option(
      '--processes <N>',
      'train with N processes on this machine, which share the environments and add up their gradients (default: 1)',
      count('processes', 1, MOST_PROCESSES),
    )
    .option(
      '--rendezvous <HOST:PORT>',
      'train over several machines, which meet here; node 0 listens (trusted networks only)',
    )
    .option('--nodes <N>', 'with --rendezvous: number of machines', count('nodes', 2, MOST_NODES))
    .option(
      '--node-rank <I>',
      'with --rendezvous: number of this machine, from 0',
      count('node-rank', 0, MOST_NODES - 1),
    )
}

/** What the flags ask for; undefined: one process. Throws `usage_invalid`. */
export function togetherOf({ processes = 1, rendezvous, nodes, nodeRank }: ProcessFlags): TrainOptions['together'] {
  if (rendezvous === undefined) {
    const name = nodes !== undefined ? 'nodes' : nodeRank !== undefined ? 'node-rank' : undefined
    if (name === undefined) return processes === 1 ? undefined : { processes }
    throw invalid(
      `--${name} needs --rendezvous`,
      'Add --rendezvous HOST:PORT, an address of node 0 that all nodes reach.',
    )
  }
  if (nodes === undefined || nodeRank === undefined) {
    throw invalid(
      '--rendezvous needs --nodes and --node-rank',
      'Start the same command on every machine, with --nodes 2 and --node-rank 0 or 1, say.',
    )
  }
  if (nodeRank >= nodes) {
    throw invalid(`--node-rank is ${nodeRank}, and there are ${nodes} nodes`, `Give 0 to ${nodes - 1}.`)
  }
  return { processes, rendezvous: { ...hostAndPort('--rendezvous', rendezvous), host: nodeRank, hosts: nodes } }
}

/** The flags again, in the command that resumes a run. */
export function processText({ processes, rendezvous, nodes, nodeRank }: ProcessFlags): string {
  const own = processes === undefined ? '' : ` --processes ${processes}`
  return rendezvous === undefined ? own : `${own} --rendezvous ${rendezvous} --nodes ${nodes} --node-rank ${nodeRank}`
}

/** HOST:PORT, where HOST may be an IPv6 address in brackets. */
export function hostAndPort(option: string, text: string): { address: string; port: number } {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/i.exec(text)
  const port = Number(parts?.[3])
  if (parts !== null && port > 0 && port < 65_536) return { address: parts[1] ?? parts[2], port }
  throw invalid(
    `${option} is ${JSON.stringify(text.slice(0, 100))}, which is not HOST:PORT`,
    `Give an address that the others reach and a free port, such as ${option} 10.0.0.1:29500.`,
  )
}

function invalid(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message, hint })
}

/** What several processes cannot be combined with. */
export function refuseWithProcesses(flags: ProcessFlags & { remote?: boolean; env?: string; seed?: number[] }): void {
  if (flags.processes === undefined && flags.rendezvous === undefined) return
  const name = flags.rendezvous === undefined ? 'processes' : 'rendezvous'
  if (flags.remote)
    throw invalid(
      `--${name} and --remote cannot be combined`,
      'Use --workers N: a remote run trains on several workers.',
    )
  if (flags.env !== undefined && (flags.rendezvous !== undefined || (flags.processes ?? 1) > 1)) {
    throw invalid(`--env and --${name} cannot be combined`, 'An environment of your own is trained on in one process.')
  }
  if (flags.rendezvous !== undefined && (flags.seed?.length ?? 1) > 1) {
    throw invalid('several seeds and --rendezvous cannot be combined', 'Train one seed at a time.')
  }
}
