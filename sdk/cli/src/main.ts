#!/usr/bin/env -S node --no-node-snapshot
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Saves a quarter of the start. In this package's own folder: compiled code in a folder that others may write to, such
// as the system's temporary one, would be theirs to choose.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

const words = process.argv.slice(2)
const [{ processIo }, { runCommandLine }, { applyProxies }] = await Promise.all([
  import('./command-io.ts'),
  import('./run-command-line.ts'),
  import('./proxies/find-proxy.ts'),
])
surviveClosedPipes()
const io = processIo()
// The server has settings of its own.
if (words.find((word) => !word.startsWith('-')) !== 'serve') await applyProxies(io.environment)
process.exitCode = await runCommandLine(words, io)

// A closed pipe (`agentgym list | head -1`) is not an error. A closed terminal (EIO) comes with SIGHUP: a run in progress
// still ends gracefully.
function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EIO') return
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
  }
}
