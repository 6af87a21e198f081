import { spawn } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export type ProgramResult = { status: number | null; output: string }

export type ProgramOptions = {
  environment: NodeJS.ProcessEnv
  input?: string
  signal?: AbortSignal
}

/** Runs another program; `output` is what it printed, in order. Its secrets go by environment or input, never as arguments. */
export function runProgram(
  program: string,
  parameters: readonly string[],
  { environment, input, signal }: ProgramOptions,
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { env: environment, stdio: ['pipe', 'pipe', 'pipe'], signal })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, output }))
    // A program that ends without reading its input is judged by its status.
    child.stdin.once('error', () => {})
    child.stdin.end(input)
  })
}

/** The first of the programs that is on the PATH. */
export async function findProgram(
  names: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of (environment.PATH ?? '').split(delimiter).filter(Boolean)) {
      const found = await access(join(folder, name), constants.X_OK).then(
        () => true,
        () => false,
      )
      if (found) return name
    }
  }
  return undefined
}
