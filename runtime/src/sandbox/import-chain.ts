import { isBuiltin } from 'node:module'
import * as esbuild from 'esbuild'

export type RefusedModule = {
  module: string
  /** From the author's entry to the module, each by the file's name. */
  chain: string[]
  text: string
  hint: string
}

/** Modules that exist as npm packages of the same name, which bundlers take. */
const packagesOfThatName = 'assert buffer events punycode querystring string_decoder url util'.split(' ')

const usesOf: [modules: RegExp, hint: string][] = [
  [/^(fs|path)\b/, "Import data instead of reading it: import data from './data.json', or a .txt file for text."],
  [/^crypto$/, 'For random numbers use the `rng` that reset and step get, or Math.random, which follows the seed.'],
  [/^(https?|http2|net|dns|tls|dgram|child_process|worker_threads|cluster)\b/, 'Simulate it inside the scenario.'],
]

/**
 * Explains an import of a module of Node that esbuild could not resolve: by which imports the author's entry comes to it,
 * and what to do instead. Undefined for other messages.
 */
export async function explainNodeModule(
  message: esbuild.Message,
  options: esbuild.BuildOptions,
): Promise<RefusedModule | undefined> {
  const module = /^Could not resolve "(.+)"$/.exec(message.text)?.[1]
  if (module === undefined || !isBuiltin(module)) return undefined
  const importer = message.location?.file
  const files = importer === undefined ? [] : await filesTo(importer, module, options)
  const chain = [...files.map(shortName), module]
  // The author's own import is the place that the message names.
  const way = chain.length > 2 ? ` (${chain.join(' → ')})` : ''
  return {
    ...{ module, chain },
    text: `"${module}" is Node's own module, which does not exist in the sandbox${way}`,
    hint: `Scenarios run without Node, files or network. ${mend(module, packageOf(files.at(-1) ?? ''))}`,
  }
}

function mend(module: string, importer: string | undefined): string {
  const name = module.replace(/^node:/, '')
  if (packagesOfThatName.includes(name)) {
    const other = module === name ? '' : `, and import "${name}"`
    return importer === undefined || module === name
      ? `Install the npm package of that name${other}: npm install ${name}`
      : `Use a package for browsers instead of ${importer}.`
  }
  if (importer !== undefined)
    return `Use a package for browsers instead of ${importer}, or a part of it without "${name}".`
  return usesOf.find(([modules]) => modules.test(name))?.[1] ?? 'Use a package for browsers instead.'
}

/** The shortest way of imports from the entry to a file, both included; the file alone if the second build fails, too. */
async function filesTo(file: string, module: string, options: esbuild.BuildOptions): Promise<string[]> {
  const built = await esbuild
    .build({ ...options, metafile: true, sourcemap: false, external: [module] })
    .catch(() => undefined)
  const inputs = built?.metafile?.inputs
  if (inputs === undefined) return [file]
  const ways = Object.values(built?.metafile?.outputs ?? {}).flatMap(({ entryPoint }) =>
    entryPoint === undefined ? [] : [[entryPoint]],
  )
  const seen = new Set(ways.flat())
  for (const way of ways) {
    const last = way[way.length - 1]
    if (last === file) return way
    for (const { path } of inputs[last]?.imports ?? []) {
      if (seen.has(path)) continue
      seen.add(path)
      ways.push([...way, path])
    }
  }
  return [file]
}

/** A file of a package as an import names it: `chess.js/dist/esm/chess.js`. */
function shortName(file: string): string {
  return (
    file
      .split('/node_modules/')
      .at(-1)
      ?.replace(/^node_modules\//, '') ?? file
  )
}

function packageOf(file: string): string | undefined {
  if (!/(^|\/)node_modules\//.test(file)) return undefined
  const [scope, name] = shortName(file).split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}
