import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { AgentGymError } from '@agentgym/contract'

const builtFor = fileURLToPath(new URL('../../learner/build/instructions', import.meta.url))

/**
 * Throws `setup_incomplete` where the learner came from another machine and this one's processor lacks instructions that it uses: a
 * job that met one would be killed without a word. What only Linux tells is not known elsewhere.
 */
export function requireProcessor(built: string = builtFor, processors = '/proc/cpuinfo'): void {
  if (!existsSync(built) || !existsSync(processors)) return
  const missing = missingInstructions(readFileSync(built, 'utf8'), readFileSync(processors, 'utf8'))
  if (missing.length === 0) return
  throw new AgentGymError({
    code: 'setup_incomplete',
    message: `The learner was built for a processor with ${missing.join(', ')}, which this one does not have.`,
    hint: 'Train on the server with --remote. Its operator can build for more processors: AGENTGYM_LEARNER_ARCHITECTURE=x86-64-v3.',
    data: { missing },
  })
}

/**
 * Instruction sets that a build of the learner uses and a processor lacks. `built` has the compiler's names, one a line
 * (`AVX512VBMI2`); `processors` is Linux's /proc/cpuinfo (`avx512_vbmi2` among its flags).
 */
export function missingInstructions(built: string, processors: string): string[] {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '')
  const flags = /^flags\s*:(.*)$/m.exec(processors)?.[1].split(' ').map(plain) ?? []
  const has = new Set(flags)
  return built.split('\n').filter((name) => name !== '' && !has.has(plain(name)))
}
