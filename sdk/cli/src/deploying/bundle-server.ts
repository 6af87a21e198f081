import { cp, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

/** What a deployment will run on, as Node names it. */
export type Machine = { platform: NodeJS.Platform; processors: readonly string[] }

/** How programs of deployments are bundled: readable, for Node alone, with the licenses of what they contain. */
export const serverBundle = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  charset: 'utf8',
  legalComments: 'inline',
  logLevel: 'silent',
  tsconfigRaw: '{}',
  // Packages in CommonJS call it for Node's own modules.
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'\nconst require = requireOf(import.meta.url)",
  },
} as const satisfies BuildOptions

/**
 * Writes the program that serves agents into a folder: one bundle, and ONNX Runtime beside it, whose native libraries cannot
 * be bundled. It runs with nothing but Node; nothing is downloaded when the folder is built into an image.
 */
export async function bundleServer(folder: string, machine: Machine): Promise<void> {
  const entry = fileURLToPath(import.meta.resolve('@agentgym/agent/deployed'))
  await build({
    absWorkingDir: dirname(entry),
    entryPoints: [entry],
    outfile: join(folder, 'server.mjs'),
    ...serverBundle,
    external: ['onnxruntime-node'],
  })
  await copyRuntime(join(folder, 'node_modules'), createRequire(entry), machine)
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ private: true, type: 'module' }, null, 2)}\n`)
}

async function copyRuntime(modules: string, require: NodeJS.Require, machine: Machine): Promise<void> {
  const runtime = dirname(require.resolve('onnxruntime-node/package.json'))
  const common = await packageFolder(createRequire(join(runtime, 'package.json')).resolve('onnxruntime-common'))
  const binaries = machine.processors.map((processor) => join('bin/napi-v6', machine.platform, processor))
  for (const [from, name, files] of [
    [runtime, 'onnxruntime-node', ['package.json', 'dist', ...binaries]],
    [common, 'onnxruntime-common', ['package.json', 'dist/cjs']],
  ] as const) {
    for (const file of files) {
      await cp(join(from, file), join(modules, name, file), { recursive: true, dereference: true })
    }
  }
}

/** The folder of a package, from a file in it. */
async function packageFolder(file: string): Promise<string> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '{}')
    if ((JSON.parse(manifest) as { name?: string }).name !== undefined) return folder
  }
}
