import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@agentgym/testkit/ports'
import type { RegistryServerOptions } from './registry-server.ts'

export type RegistryProcess = {
  url: string
  process: ChildProcess
  /** What it wrote on stderr. */
  errors(): string
  /** SIGKILL by default. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Starts `registry-server.ts` in a process of its own; resolves when it listens. `publicUrl` is its address unless given. */
export async function startRegistry(
  options: Omit<RegistryServerOptions, 'port' | 'publicUrl'> & { port?: number; publicUrl?: string },
): Promise<RegistryProcess> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const argument = JSON.stringify({ publicUrl: url, ...options, port })
  const script = fileURLToPath(new URL('registry-server.ts', import.meta.url))
  const child = spawn(process.execPath, [script, argument], { stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const exited = once(child, 'exit')
  await Promise.race([
    once(child.stdout, 'data'),
    exited.then(([code]) => Promise.reject(new Error(`the registry ended with ${code}: ${errors}`))),
  ])
  return {
    url,
    process: child,
    errors: () => errors,
    stop: async (signal = 'SIGKILL') => {
      child.kill(signal)
      await exited
    },
  }
}
