import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const cache = join(root, 'node_modules/.cache/agentgym/python')
const execute = promisify(execFile)

/** The source of the Python package, for PYTHONPATH: tests run what is written, not what is installed. */
export const pythonSource = join(root, 'sdk/python/src')

/**
 * The interpreter of a virtual environment with the packages that `infra/setup/python/NAME.txt` pins. It is made when a
 * test first asks for it, and again when that file changes; test files that ask at once wait for the one that makes it.
 */
export async function pythonEnvironment(name: string): Promise<string> {
  const requirements = join(root, 'infra/setup/python', `${name}.txt`)
  const wanted = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  const folder = join(cache, name)
  const stamp = join(folder, 'agentgym-stamp')
  const isReady = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
  const release = isReady() ? undefined : await lock(`${folder}.lock`)
  try {
    if (!isReady()) {
      await makePythonEnvironment(folder, requirements)
      writeFileSync(stamp, wanted)
    }
  } finally {
    release?.()
  }
  return join(folder, 'bin/python')
}

/**
 * Makes a virtual environment in `folder`, which it empties, with what a file of requirements pins. By uv, which takes 3 s
 * of a processor where pip takes a minute; by pip where uv fails, such as with an index that only pip is set up for.
 * Lines such as `#any-python: name==1.0.0` are packages that ask for a newer Python than Debian's, and run without.
 */
export async function makePythonEnvironment(folder: string, requirements: string): Promise<void> {
  const python = join(folder, 'bin/python')
  const options = { maxBuffer: 1 << 26 }
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  try {
    const uv = await uvProgram(async (tools) => {
      await execute('python3', ['-m', 'venv', tools])
      await execute(join(tools, 'bin/python'), [...pip, uvVersion], options)
    })
    rmSync(folder, { recursive: true, force: true })
    await execute('python3', ['-m', 'venv', folder])
    const parameters = ['pip', 'install', '--quiet', '--native-tls', '--cache-dir', join(cache, 'uv-cache')]
    const index = process.env.PIP_INDEX_URL === undefined ? [] : ['--default-index', process.env.PIP_INDEX_URL]
    await execute(uv, [...parameters, ...index, '--python', python, '--requirement', requirements], options)
  } catch {
    rmSync(folder, { recursive: true, force: true })
    await execute('python3', ['-m', 'venv', folder])
    await execute(python, [...pip, '--requirement', requirements], options)
  }
  const anyPython = [...readFileSync(requirements, 'utf8').matchAll(/^#any-python: (\S+)$/gm)].map(([, name]) => name)
  if (anyPython.length === 0) return
  await execute(python, [...pip, '--no-deps', '--ignore-requires-python', ...anyPython], options)
}

const uvVersion = 'uv==0.13.9'

/** Path of uv, installed once for all environments. */
async function uvProgram(make: (folder: string) => Promise<void>): Promise<string> {
  const tools = join(cache, uvVersion)
  const program = join(tools, 'bin/uv')
  if (existsSync(program)) return program
  const release = await lock(`${tools}.lock`)
  try {
    if (!existsSync(program)) await make(tools)
  } finally {
    release()
  }
  return program
}

export type PythonRun = { environment?: NodeJS.ProcessEnv; cwd?: string }

/** Runs Python with our package on its path; resolves with its output and rejects, with all of it, when it fails. */
export async function runPython(
  python: string,
  parameters: string[],
  { environment = {}, cwd = root }: PythonRun = {},
): Promise<string> {
  const env = { ...process.env, PYTHONPATH: pythonSource, PYTHONDONTWRITEBYTECODE: '1', ...environment }
  try {
    const { stdout } = await execute(python, parameters, { cwd, env, maxBuffer: 1 << 26 })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`python ${parameters.join(' ')} failed\n${stdout}\n${stderr}`)
  }
}

/** Runs test files of pytest; its report is the message of the error if one fails. */
export async function runPytest(python: string, files: string[], run: PythonRun = {}): Promise<void> {
  await runPython(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', ...files], {
    ...run,
    cwd: run.cwd ?? join(root, 'sdk/python'),
  })
}

/** mkdir is atomic; a lock whose maker died is broken after as long as the slowest installation takes. */
async function lock(path: string): Promise<() => void> {
  mkdirSync(cache, { recursive: true })
  for (;;) {
    try {
      mkdirSync(path)
      return () => rmSync(path, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
      if (age > 900_000) rmSync(path, { recursive: true, force: true })
      await delay(500)
    }
  }
}
