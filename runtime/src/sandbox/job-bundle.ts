import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as esbuild from 'esbuild'

/** What was bundled for an entry: its folder, and the files that it was made of, as they were. */
type BundleRecord = { folder: string; inputs: [file: string, modified: number, size: number][] }

type Thread = { name: string; file: string }

const runtime = fileURLToPath(new URL('../../', import.meta.url))
const sources = path.join(runtime, 'src') + path.sep
const cache = path.join(runtime, 'node_modules', '.cache', 'jobs')
/** Bundles of earlier sources are kept for this long: jobs of other processes may be starting from them. */
const KEPT_MS = 24 * 3_600_000

/**
 * The file that runs a job's `entry`. Every process and every thread of a job would otherwise strip the types of a hundred
 * files, which took longer than all else before its first step: our own `*.process.ts` are bundled, once, with the threads
 * that they start. They are bundled again when a file in them has changed. Elsewhere, and where the package's folder cannot be
 * written, it is the entry itself.
 */
export async function jobFile(entry: string): Promise<string> {
  if (!entry.startsWith(sources) || !/\.process\.[jt]s$/.test(entry)) return entry
  const name = path.basename(entry, path.extname(entry))
  const known = readRecord(name)
  const record = known !== undefined && isFresh(known) ? known : await writeBundle(name, entry)
  return record === undefined ? entry : path.join(cache, record.folder, `${name}.mjs`)
}

function readRecord(name: string): BundleRecord | undefined {
  try {
    return JSON.parse(readFileSync(recordFile(name), 'utf8'))
  } catch {
    return undefined
  }
}

function recordFile(name: string): string {
  return path.join(cache, `${name}.json`)
}

function isFresh({ folder, inputs }: BundleRecord): boolean {
  if (!existsSync(path.join(cache, folder))) return false
  return inputs.every(([file, modified, size]) => {
    const now = statSync(file, { throwIfNoEntry: false })
    return now?.mtimeMs === modified && now.size === size
  })
}

/**
 * Folders are named by what is in them and appear whole, so a job never finds files of two versions.
 */
async function writeBundle(name: string, entry: string): Promise<BundleRecord | undefined> {
  const { files, inputs } = await bundleWithThreads({ name, file: entry })
  const hash = createHash('sha256')
  for (const { path: file, contents } of files) hash.update(path.basename(file)).update(contents)
  const record: BundleRecord = { folder: `${name}-${hash.digest('hex').slice(0, 16)}`, inputs }
  const folder = path.join(cache, record.folder)
  const unfinished = `${folder}.${process.pid}.tmp`
  try {
    mkdirSync(unfinished, { recursive: true })
    for (const { path: file, contents } of files) writeFileSync(path.join(unfinished, path.basename(file)), contents)
    if (existsSync(folder)) rmSync(unfinished, { recursive: true })
    else renameSync(unfinished, folder)
    writeFileSync(`${unfinished}.json`, JSON.stringify(record))
    renameSync(`${unfinished}.json`, recordFile(name))
    removeOlder(name, record.folder)
  } catch {
    // A folder of somebody else's, a full disk, or another process that was first.
    rmSync(unfinished, { recursive: true, force: true })
    return existsSync(folder) ? record : undefined
  }
  return record
}

function removeOlder(name: string, kept: string): void {
  for (const other of readdirSync(cache)) {
    if (!other.startsWith(`${name}-`) || other === kept) continue
    const written = statSync(path.join(cache, other), { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (Date.now() - written > KEPT_MS) rmSync(path.join(cache, other), { recursive: true, force: true })
  }
}

async function bundleWithThreads(
  entry: Thread,
): Promise<{ files: esbuild.OutputFile[]; inputs: BundleRecord['inputs'] }> {
  const files: esbuild.OutputFile[] = []
  const inputs = new Set([fileURLToPath(import.meta.url)])
  const threads = [entry]
  for (const { name, file } of threads) {
    const result = await esbuild.build({
      absWorkingDir: runtime,
      entryPoints: [{ in: file, out: name }],
      bundle: true,
      write: false,
      metafile: true,
      outdir: cache,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      platform: 'node',
      target: 'node24',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      tsconfigRaw: '{}',
      external: installedPackages(),
      plugins: [threadsBeside((found) => threads.some((thread) => thread.file === found.file) || threads.push(found))],
    })
    files.push(...result.outputFiles)
    for (const input of Object.keys(result.metafile.inputs)) inputs.add(path.resolve(runtime, input))
  }
  return {
    // Threads are found in an order that differs from time to time, and what is bundled is the same in any order.
    files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    inputs: [...inputs].map((file) => {
      const { mtimeMs, size } = statSync(file)
      return [file, mtimeMs, size]
    }),
  }
}

/**
 * Packages that jobs load as they are, native code among them: those of this package, but for the workspace's own. An
 * installed command lists them in its own package.json: npm installs nothing that a bundled package depends on.
 */
function installedPackages(): string[] {
  const manifestOf = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const { dependencies = manifestOf(path.join(runtime, '../../..')).dependencies } = manifestOf(runtime)
  return Object.keys(dependencies).filter((name) => !name.startsWith('@agentgym/'))
}

/** In a bundle, threads lie beside their process; every other address is still that of the source. */
function threadsBeside(found: (thread: Thread) => void): esbuild.Plugin {
  return {
    name: 'threads',
    setup(build) {
      build.onLoad({ filter: /\.[jt]s$/, namespace: 'file' }, ({ path: file }) => {
        if (!file.startsWith(sources)) return undefined
        const source = readFileSync(file, 'utf8')
        if (!source.includes('import.meta.url')) return undefined
        const contents = source
          .replace(
            /new URL\('(\.[^']*[-.]worker)(\.[jt]s)', import\.meta\.url\)/g,
            (_, thread: string, ending: string) => {
              const name = path.basename(thread)
              found({ name, file: path.resolve(path.dirname(file), thread + ending) })
              return `new URL('./${name}.mjs', THREADS)`
            },
          )
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
          .replaceAll('THREADS)', 'import.meta.url)')
        return { contents, loader: 'default' }
      })
    },
  }
}
