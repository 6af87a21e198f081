import { execFile, execFileSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from '../checks/repository-files.ts'

const run = promisify(execFile)

/** Targets of stand-ins/Containerfile, by the variable that names the public image. */
export const standIns = {
  POSTGRES_IMAGE: 'postgres',
  STORAGE_IMAGE: 'storage',
  PROXY_IMAGE: 'proxy',
  PROMETHEUS_IMAGE: 'prometheus',
} as const

export type Stack = {
  /** Runs Docker Compose; resolves to what it prints. */
  compose(...words: string[]): Promise<string>
}

/**
 * The folder of compose.yaml as its README has it, with stand-ins for the public images in the engine and named in `.env`.
 * `programs`: what build-stand-ins.sh wrote.
 */
export function prepareStack(folder: string, { programs, hostname }: { programs: string; hostname: string }): Stack {
  for (const path of ['infra/compose', 'infra/observability', 'infra/images/worker-seccomp.json'])
    cpSync(join(repositoryRoot, path), join(folder, path), { recursive: true })
  const own = join(folder, 'infra/compose')
  execFileSync('sh', [join(own, 'make-secrets.sh')])
  execFileSync('docker', ['import', join(programs, 'programs.tar'), 'stand-in/programs'], { stdio: 'pipe' })
  cpSync(join(programs, 'weed'), join(own, 'stand-ins/weed'))
  const settings: Record<string, string> = {
    AGENTGYM_HOSTNAME: hostname,
    AGENTGYM_MAIL_FROM: 'gym@example.com',
    // Nothing here starts them.
    AGENTGYM_SERVER_IMAGE: 'agentgym/server:none',
    AGENTGYM_WORKER_IMAGE: 'agentgym/worker:none',
  }
  for (const [variable, target] of Object.entries(standIns)) {
    settings[variable] = `stand-in/${target}`
    const words = ['build', '--quiet', '--file', 'Containerfile', '--target', target, '--tag', settings[variable], '.']
    const env = { ...process.env, DOCKER_BUILDKIT: '0' }
    execFileSync('docker', words, { cwd: join(own, 'stand-ins'), stdio: 'pipe', env })
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(own, '.env'), lines.join(''))
  const command = join(programs, 'docker-compose')
  return { compose: async (...words) => (await run(command, words, { cwd: own, maxBuffer: 1e8 })).stdout }
}
