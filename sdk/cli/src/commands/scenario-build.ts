import { stat } from 'node:fs/promises'
import type { CommandContext } from '../command-context.ts'
import { resolveScenarioFolder } from '../targets/resolve-scenario.ts'
import { formatBytes } from '../terminal/format-figures.ts'
import { safeText } from '../terminal/safe-text.ts'
import { shellQuote } from '../terminal/shell-quote.ts'

/** `agentgym scenario build`: bundles the entry into dist/scenario.js and prints its path, size and hash. */
export async function scenarioBuild(target: string, context: CommandContext): Promise<void> {
  const folder = await resolveScenarioFolder(target, context)
  const runtime = await context.runtime()
  const build = await runtime.writeBuild(folder)
  const { name, version } = build.package
  const { size } = await stat(build.path)
  context.sayJson({ name, version, path: build.path, bytes: size, hash: build.hash })
  const { paint, symbols } = context.terminal
  context.say(
    `${paint.accent(symbols.ok)} Built ${paint.bold(safeText(`${name}@${version}`, 240))} into ${safeText(context.displayPath(build.path))} (${formatBytes(size)})`,
  )
  context.say(`  ${paint.dim('SHA-256')} ${build.hash}`)
  context.say(
    `${symbols.next} Check it in the sandbox: ${paint.accent(`agentgym scenario check ${shellQuote(context.displayPath(folder))}`)}`,
  )
}
