import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'

let source: Promise<string> | undefined

/**
 * The script that runs first in every isolate: the hardening, the guest engine and the harness that joins them, as one
 * expression whose value is the harness's functions. Bundled once a process, by the parent: a job's process may neither
 * read files nor start esbuild.
 */
export function harnessSource(): Promise<string> {
  source ??= bundleHarness()
  return source
}

async function bundleHarness(): Promise<string> {
  const result = await esbuild.build({
    entryPoints: [fileURLToPath(new URL('./harness/harness.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'neutral',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: '{}',
  })
  // An expression: nothing of it becomes a global that a guest could see.
  return `(function () { 'use strict'; const module = { exports: {} }; ${result.outputFiles[0].text}
return module.exports.harness })()`
}
