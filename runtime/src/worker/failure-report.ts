import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentGymError, ErrorReport } from '@agentgym/contract'

/** As the contract caps them. */
const messageCharacters = 4_000
const dataBytes = 16_384

/** Folders of this machine, which mean nothing to a reader elsewhere; longest first. */
const ownFolders = [
  process.cwd(),
  homedir(),
  tmpdir(),
  path.dirname(process.execPath),
  fileURLToPath(new URL('../../../', import.meta.url)),
]
  .map((folder) => folder.replace(/\/+$/, ''))
  .filter((folder) => folder.length > 1)
  .sort((a, b) => b.length - a.length)

/**
 * A failure as it leaves the machine: within the contract's caps and without the machine's folders. `folders` are further
 * ones, such as that of the job.
 */
export function publicReport(error: AgentGymError, folders: string[] = []): ErrorReport {
  const { code, message, hint, data } = error.toReport()
  const shown = (text: string) => cut(withoutFolders(text, [...folders, ...ownFolders]), messageCharacters)
  const report: ErrorReport = { code, message: shown(message) }
  if (hint !== undefined) report.hint = shown(hint)
  if (data === undefined) return report
  const text = withoutFolders(JSON.stringify(data), [...folders, ...ownFolders])
  if (Buffer.byteLength(text) <= dataBytes) report.data = JSON.parse(text)
  return report
}

/** Without the names of those folders; what lies in them keeps its path from there. */
export function withoutFolders(text: string, folders: string[]): string {
  const without = (rest: string, folder: string) =>
    rest.replace(new RegExp(`(?<![\\w.-])${literally(folder)}(/|(?![\\w.-]))`, 'g'), (_, slash) =>
      slash === '' ? '.' : '',
    )
  return folders.reduce(without, text)
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

export function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 1)}…`
}

/**
 * Whether a job's process ended without a word, or never began: something that need not happen again, unlike what the job
 * itself reported or its supervisor ended it for.
 */
export function hasDied({ data }: AgentGymError): boolean {
  return data.not_started === true || (data.signal !== undefined && data.exit_status !== undefined)
}

/** Of a SIGKILL, which may be anybody's: the kernel's, short of memory, or an operator's. */
export function wasKilled({ data }: AgentGymError): boolean {
  return data.not_started === true || data.signal === 'SIGKILL'
}
