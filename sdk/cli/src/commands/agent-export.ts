import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { namingFile } from '@agentgym/contract'
import type { CommandContext } from '../command-context.ts'
import type { DeployedAgent } from '../deploying/deployment-folder.ts'
import { writeOnnxFolder } from '../deploying/onnx-folder.ts'
import { obtainAgentFolder } from '../targets/agents.ts'
import { formatBytes } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'

type AgentExportFlags = { to: 'weights' | 'onnx' }

/** `agentgym agent export`: writes an agent in another form. */
export async function agentExport(
  target: string,
  path: string,
  { to }: AgentExportFlags,
  context: CommandContext,
): Promise<void> {
  if (to === 'weights') return writeWeights(await obtainAgentFolder(target, context), context.resolve(path), context)
  return writeOnnx(await obtainDeployedAgent(target, context), context.resolve(path), context)
}

/** An agent with its model loaded: a folder that is damaged fails here. */
export async function obtainDeployedAgent(target: string, context: CommandContext): Promise<DeployedAgent> {
  const folder = await obtainAgentFolder(target, context)
  const { loadAgent } = await import('@agentgym/agent')
  const agent = await loadAgent(folder)
  const { name, version } = agent.package ?? { name: basename(folder), version: null }
  return { folder, agent, manifest: agent.manifest, name, version }
}

async function writeWeights(folder: string, path: string, context: CommandContext): Promise<void> {
  const { readFrozenWeights } = await context.runtime()
  const weights = await readFrozenWeights(folder)
  const text = `${JSON.stringify(weights, null, 1)}\n`
  await namingFile(path, () => writeFile(path, text))
  context.printJson({ file: path, format: 'weights', bytes: Buffer.byteLength(text), ...weights.agent })
  const { symbols, paint } = context.terminal
  const shown = safeText(context.displayPath(path))
  context.print(`${symbols.ok} Wrote ${shown} (${formatBytes(Buffer.byteLength(text))})`)
  const example = 'frozenPolicy(weights)'
  context.print(`${symbols.next} Import it in a scenario and play it with ${paint.accent(example)}`)
}

/** A folder for other runtimes of ONNX. */
export async function writeOnnx(agent: DeployedAgent, folder: string, context: CommandContext): Promise<void> {
  const { observation, action, label } = await writeOnnxFolder(folder, agent)
  const { name, version } = agent
  context.printJson({ folder, format: 'onnx', name, version, sample: { observation, action, label } })
  const { symbols, paint } = context.terminal
  const shown = safeText(context.displayPath(folder))
  context.print(
    `${paint.accent(symbols.ok)} Wrote ${shown}: the model, a README of its inputs and outputs, and an example`,
  )
  context.print(`${symbols.next} Check it: ${paint.accent(`python3 ${shown}/sample.py`)} (needs onnxruntime and numpy)`)
}
