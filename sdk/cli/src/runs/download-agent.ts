import { randomUUID } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readPackage } from '@agentgym/agent/packages'
import { downloadPackage } from '@agentgym/client'
import { AgentGymError, namingFile, type Run } from '@agentgym/contract'
import type { Connection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { claimAgentFolder, forgetRunRequest } from '../commands/agent-folder.ts'
import { clientOf, explained, outlastingOutage } from '../registry/call-api.ts'
import { shortId } from '../registry/find-by-id.ts'
import { transferProgress } from '../terminal/progress.ts'
import { runPath } from './run-api.ts'

/** The files of a run's agent, verified against the integrity that its worker reported. Throws `run_has_no_agent`. */
export async function fetchAgent(
  connection: Connection,
  run: Run,
  context: CommandContext,
): Promise<Map<string, Buffer>> {
  if (run.agent === null) {
    const command = `agentgym runs show ${shortId(run.id)}`
    throw new AgentGymError({
      code: 'run_has_no_agent',
      message: `run ${run.id} has no agent: its state is ${run.state.replace('_', ' ')}`,
      hint: `Only completed runs have an agent. Details: ${command}`,
      data: { id: run.id, state: run.state },
    })
  }
  const { integrity } = run.agent
  const progress = transferProgress('agent', context)
  try {
    const request = { what: `the agent of ${run.id}`, tarball: `${runPath(run.id)}/agent`, integrity }
    const bytes = await explained(connection, () =>
      outlastingOutage(() => downloadPackage(clientOf(connection), { ...request, onProgress: progress.update })),
    )
    return await readPackage(bytes)
  } finally {
    progress.close()
  }
}

/**
 * Writes a run's agent to a folder, as local training would: atomically, and only if it can be loaded.
 * Throws as `claimAgentFolder` and `fetchAgent` do, and `agent_invalid`.
 */
export async function downloadAgent(
  connection: Connection,
  run: Run,
  folder: string,
  options: { force: boolean; context: CommandContext },
): Promise<{ movedTo: string | null }> {
  const files = await fetchAgent(connection, run, options.context)
  const runtime = await options.context.runtime()
  const temporary = `${folder}.${randomUUID()}.tmp`
  try {
    await namingFile(folder, async () => {
      for (const [path, bytes] of files) {
        await mkdir(dirname(join(temporary, path)), { recursive: true })
        await writeFile(join(temporary, path), bytes)
      }
    })
    await runtime.readAgent(temporary)
    const claimed = await claimAgentFolder(
      folder,
      { force: options.force, checkpoint: runtime.checkpointPath(folder) },
      options.context,
    )
    // The folder is missing, or contains only the record of a run that produced nothing.
    await forgetRunRequest(folder)
    await rename(temporary, folder)
    return claimed
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}
