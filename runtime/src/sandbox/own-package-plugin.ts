import { isBuiltin } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as esbuild from 'esbuild'

const OWN = '@agentgym/scenario'
const NAMESPACE = 'agentgym'
const ALREADY_TRIED = Symbol('already tried')

let ownSource: Promise<string> | undefined

/**
 * Gives every import of `@agentgym/scenario` our own copy, and refuses Node's own modules where they are imported. The
 * copy is bundled first and served from memory: its path would otherwise end up in the scenario's bytes.
 */
export async function ownPackagePlugin(): Promise<esbuild.Plugin> {
  ownSource ??= bundleOwnPackage()
  const contents = await ownSource
  return {
    name: 'agentgym',
    setup(build) {
      build.onResolve({ filter: /^@agentgym\/scenario(\/|$)/ }, ({ path: name }) => {
        if (name === OWN) return { path: 'scenario', namespace: NAMESPACE }
        const text = `Could not resolve "${name}": scenarios import "${OWN}" only, not its parts`
        return { errors: [{ text, detail: name }] }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents, loader: 'js' }))
      build.onResolve({ filter: /.*/ }, (arguments_) => refuseBuiltin(build, arguments_))
    },
  }
}

async function refuseBuiltin(build: esbuild.PluginBuild, { path: name, pluginData, ...from }: esbuild.OnResolveArgs) {
  if (!isBuiltin(name) || pluginData === ALREADY_TRIED) return undefined
  if (!name.startsWith('node:')) {
    // A package may bear the name of one of Node's modules: `events`, `buffer`.
    const { importer, namespace, resolveDir, kind } = from
    const found = await build.resolve(name, { importer, namespace, resolveDir, kind, pluginData: ALREADY_TRIED })
    if (found.errors.length === 0) return found
  }
  const text = `"${name}" is Node's own module, which does not exist in the sandbox`
  return { errors: [{ text, detail: name }] }
}

async function bundleOwnPackage(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve(OWN))
  const result = await esbuild.build({
    absWorkingDir: path.dirname(entry),
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'node24',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: '{}',
  })
  return result.outputFiles[0].text
}
