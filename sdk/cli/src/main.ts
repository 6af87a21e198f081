#!/usr/bin/env -S node --no-node-snapshot
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Saves a quarter of the start. In this package's own folder: compiled code in a folder that others may write to, such
// as the system's temporary one, would be theirs to choose.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)))

const { runCommandLine } = await import('./run-command-line.ts')
process.exitCode = await runCommandLine(process.argv.slice(2))
