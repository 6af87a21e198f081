import { readFile, stat } from 'node:fs/promises'
import { AgentGymError, namingFile } from '@agentgym/contract'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type CommandContext, version } from '../command-context.ts'
import { requireFile } from '../targets/files.ts'
import { plainLine } from './identifiers.ts'
import { readToolForms, type ToolDeclaration } from './tool-forms.ts'

const MAX_BYTES = 4 * 1024 * 1024
const TIMEOUT_MS = 30_000
/** As a server's last words are shown. */
const MAX_STDERR = 2_000

/** Tools from a JSON file or the address of one. Throws `tools_invalid`, `file_not_found` and `server_unreachable`. */
export async function obtainDeclaredTools(source: string, context: CommandContext): Promise<ToolDeclaration[]> {
  const text = isAddress(source) ? await download(source) : await readWithin(await requireFile(source, context), source)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new AgentGymError({
      code: 'tools_invalid',
      message: `${source} is not JSON: ${plainLine(String((error as Error).message), 200)}`,
      hint: 'Write the tools of your agent as JSON: docs/bring-your-agent.md shows how for each framework.',
      data: { from: source },
    })
  }
  return readToolForms(value, source)
}

function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

async function readWithin(path: string, source: string): Promise<string> {
  const { size } = await namingFile(path, () => stat(path))
  if (size > MAX_BYTES) throw tooLarge(source)
  return namingFile(path, () => readFile(path, 'utf8'))
}

async function download(address: string): Promise<string> {
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) throw tooLarge(address)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    if (error instanceof AgentGymError) throw error
    throw unreachable(address, error, 'Check the address, or save the file and give its path.')
  }
}

function tooLarge(source: string): AgentGymError {
  return new AgentGymError({
    code: 'tools_invalid',
    message: `${source} is larger than ${MAX_BYTES / 1024 / 1024} MiB`,
    hint: 'Give a file with the declarations of the tools alone.',
    data: { from: source },
  })
}

export type McpTools = { tools: ToolDeclaration[]; server: string }

/**
 * Tools of an MCP server: a command, which is started without a shell and speaks on stdin and stdout, or the address of a server
 * that speaks streamable HTTP. Its answers are data; none of its tools is called.
 */
export async function obtainMcpTools(target: string): Promise<McpTools> {
  const client = new Client({ name: 'agentgym', version: version() }, { versionNegotiation: { mode: 'auto' } })
  const { transport, lastWords } = openTransport(target)
  try {
    const options = { timeout: TIMEOUT_MS }
    await client.connect(transport, options)
    const { tools } = await client.listTools(undefined, options)
    return { tools: readToolForms(tools, target), server: client.getServerVersion()?.name ?? '' }
  } catch (error) {
    if (error instanceof AgentGymError) throw error
    const words = lastWords()
    const said = words === '' ? '' : ` Its error output ends with: ${words}`
    throw unreachable(target, error, `Check that the MCP server starts and answers.${said}`)
  } finally {
    await client.close().catch(() => {})
  }
}

function openTransport(target: string): { transport: Transport; lastWords(): string } {
  if (isAddress(target)) {
    return { transport: new StreamableHTTPClientTransport(new URL(target)), lastWords: () => '' }
  }
  const [command, ...args] = commandWords(target)
  if (command === undefined) {
    throw new AgentGymError({
      code: 'usage_invalid',
      message: '--mcp names no command',
      hint: 'Give the command that starts the server, such as --mcp "npx some-server", or its address.',
      data: { field: 'mcp' },
    })
  }
  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' })
  let words = ''
  transport.stderr?.on('data', (chunk) => {
    words = `${words}${chunk}`.slice(-MAX_STDERR)
  })
  return { transport, lastWords: () => plainLine(words, 300) }
}

/** Words of a command line, with quotes as in a shell and nothing else of one: no variables, no pipes. */
export function commandWords(line: string): string[] {
  const words = line.match(/(?:[^\s"']+|"(?:\\.|[^"\\])*"|'[^']*')+/g) ?? []
  return words.map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, (_, double: string | undefined, single: string | undefined) =>
      double === undefined ? (single ?? '') : double.replace(/\\(["\\])/g, '$1'),
    ),
  )
}

function unreachable(from: string, error: unknown, hint: string): AgentGymError {
  const reason =
    error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : 'unknown'
  return new AgentGymError(
    {
      code: 'server_unreachable',
      message: `${from} could not be read: ${plainLine(reason, 200)}`,
      hint,
      data: { from },
    },
    { cause: error },
  )
}
