#!/usr/bin/env -S node --no-node-snapshot
import { runCommandLine } from './run-command-line.ts'

process.exitCode = await runCommandLine(process.argv.slice(2))
