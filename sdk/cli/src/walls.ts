import { AgentGymError, wallSchema } from '@agentgym/contract'
import type { Walls } from '@agentgym/runtime'
import type { CommandContext } from './command-context.ts'

/**
 * Refuses to run other people's code on a machine that lacks walls, unless its operator has named them (or `any`): throws
 * `sandbox_incomplete`, and `config_invalid` for a name that is none.
 */
export function requireWalls(walls: Pick<Walls, 'missing' | 'reason'>, accepted = ''): void {
  const names = accepted
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = names.find((name) => name !== 'any' && !wallSchema.options.some((wall) => wall === name))
  if (unknown !== undefined)
    throw new AgentGymError({
      code: 'config_invalid',
      message: `--without-walls names ${unknown}`,
      hint: `Use ${wallSchema.options.join(', ')} or any.`,
      data: { field: 'without_walls' },
    })
  if (names.includes('any')) return
  const refused = walls.missing.filter((wall) => !names.includes(wall))
  if (refused.length === 0) return
  throw new AgentGymError({
    code: 'sandbox_incomplete',
    message: `This machine cannot run untrusted code safely: its sandbox lacks ${refused.join(', ')}. ${walls.reason}`,
    hint: `To run jobs anyway, on a server where only you can upload: --without-walls ${refused.join(',')}`,
    data: { missing: refused },
  })
}

/** Before a scenario runs here: says on stderr what this machine's sandbox lacks, unless AGENTGYM_WITHOUT_WALLS accepts it. */
export async function warnOfMissingWalls({ io, terminal, runtime }: CommandContext): Promise<void> {
  if ((io.environment.AGENTGYM_WITHOUT_WALLS ?? '') !== '') return
  const { missing, reason } = await (await runtime()).machineWalls()
  if (missing.length === 0) return
  io.stderr.write(`${terminal.symbols.warning} The sandbox of this machine lacks ${missing.join(', ')}. ${reason}\n`)
}
