import { AgentGymError, type ErrorReport } from '@agentgym/contract'
import type { GlobalFlags } from './command-context.ts'
import type { CommandIo } from './command-io.ts'
import { frameLines } from './terminal/table.ts'
import { describeTerminal, type Terminal } from './terminal/terminal.ts'
import { safeText, wrapText } from './terminal/text.ts'

const messageLimit = 4000
const messageLines = 20

/**
 * Prints a failure and returns the exit status: for people on stderr, under `--json` as one line on stdout. A training
 * command's error is an event among its events; every other command's is `{error}`.
 */
export function reportFailure(failure: unknown, flags: GlobalFlags, form: 'event' | 'value', io: CommandIo): 1 | 2 {
  const error = failure instanceof AgentGymError ? failure : (missingServer(failure) ?? internalError(failure))
  if (flags.json) {
    const report = { error: error.toReport() }
    io.stdout.write(`${JSON.stringify(form === 'event' ? { event: 'error', ...report } : report)}\n`)
    return error.exit
  }
  const terminal = describeTerminal(io.stderr, io.environment, flags)
  const lines = failureLines(error.toReport(), terminal)
  if (flags.verbose) lines.push(...detailLines(error, terminal))
  io.stderr.write(`${lines.join('\n')}\n`)
  return error.exit
}

/** What failed and why, how to fix it, and the code last. No line is wider than the terminal. */
function failureLines(report: ErrorReport, terminal: Terminal): string[] {
  const { paint, symbols } = terminal
  const width = Math.min(terminal.columns(), 100) - 2
  const message = textLines(sentenceCase(report.message), width)
  const hint = report.hint === undefined ? [] : textLines(sentenceCase(report.hint), width)
  // The user stopped the run: not an error.
  const mark = report.code === 'training_cancelled' ? paint.warn(symbols.warning) : paint.fail(symbols.failed)
  return [
    `${mark} ${message[0]}`,
    ...message.slice(1).map((line) => `  ${line}`),
    ...frameLines(report.data?.frame, '  ', terminal),
    ...hint.map((line, index) => `${index === 0 ? symbols.next : ' '} ${line}`),
    `  ${paint.dim(report.code)}`,
  ]
}

// Commands, addresses and names such as `cart-pole@1.0.0` stay as they are: only a plain word begins a sentence.
function sentenceCase(text: string): string {
  return /^(?!agentgym )[a-z]+([ ,]|:(?!\/\/))/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}

// Indented below the first line, a message of several lines (a compiler's) cannot pass for lines of ours.
function textLines(text: string, width: number): string[] {
  const lines = text.slice(0, messageLimit).split(/\r?\n/)
  const kept = lines.slice(0, messageLines).flatMap((line) => wrapText(safeText(line, messageLimit), width))
  return lines.length > messageLines ? [...kept, '(more lines omitted)'] : kept
}

function detailLines(error: AgentGymError, terminal: Terminal): string[] {
  const lines = Object.entries(error.data).map(
    ([key, value]) => `${safeText(key, 60)}: ${safeText(JSON.stringify(value) ?? '', 2000)}`,
  )
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const stack = (at.stack ?? String(at)).slice(0, 8000).split('\n')
    lines.push(...stack.slice(0, 30).map((line) => safeText(line, 500)))
  }
  return lines.map((line) => `  ${terminal.paint.dim(line)}`)
}

/** The package for npm comes without the server. */
function missingServer(failure: unknown): AgentGymError | undefined {
  const { code, message } = (failure ?? {}) as { code?: unknown; message?: unknown }
  if (code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED' || !String(message).includes('@agentgym/registry')) return undefined
  return new AgentGymError(
    {
      code: 'setup_incomplete',
      message: 'this installation of agentgym has no server',
      hint: 'Run servers from a container image or from source: see "Quickstart: operator" in the documentation.',
    },
    { cause: failure },
  )
}

function internalError(failure: unknown): AgentGymError {
  const reason = failure instanceof Error ? `${failure.name}: ${failure.message}` : String(failure)
  return new AgentGymError(
    {
      code: 'internal_error',
      message: `internal error: ${reason}`,
      hint: 'This is a bug in AgentGym. Run the command again with --verbose and report the output.',
    },
    { cause: failure },
  )
}
