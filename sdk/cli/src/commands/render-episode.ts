import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { AgentGymError, type AgentManifest, namingFile } from '@agentgym/contract'
import { episodeSummary, lastStep } from '@agentgym/pictures'
import type { BuiltScenario } from '@agentgym/runtime'
import type { CommandContext } from '../command-context.ts'
import { obtainAgentScenario } from '../playing/agent-scenario.ts'
import type { Theme } from '../rendering/picture-colors.ts'
import { type Recording, recordEpisode } from '../rendering/record-episode.ts'
import { resolveAgentFolder } from '../targets/agents.ts'
import { formatBytes } from '../terminal/format-values.ts'
import { safeText } from '../terminal/text.ts'

export type RenderFlags = {
  render?: string
  beside?: string
  episode?: number
  step?: number
  theme?: Theme
  seed?: number
  scenario?: string
}

const formats = ['.html', '.gif', '.png'] as const
type Format = (typeof formats)[number]

/** The kind of file that `--render` names. Throws `usage_invalid` for another, before anything is played. */
export function renderFormat({ render, step, beside, episode }: RenderFlags): Format | undefined {
  if (render === undefined) {
    if (beside === undefined && step === undefined && episode === undefined) return undefined
    throw refused('--beside, --episode and --step need --render FILE', 'Name a file: --render episode.html')
  }
  const found = formats.find((format) => format === extname(render).toLowerCase())
  if (found === undefined)
    throw refused(
      `--render ${JSON.stringify(safeText(render, 200))} is no HTML, GIF or PNG file`,
      'End its name with .html, .gif or .png.',
    )
  if (step !== undefined && found !== '.png')
    throw refused(`--step chooses the picture of a PNG, not of ${found}`, 'Leave --step out, or write a .png file.')
  return found
}

function refused(message: string, hint: string): AgentGymError {
  return new AgentGymError({ code: 'usage_invalid', message, hint })
}

/** Plays one held-out episode and writes its picture; with `--beside` another player's episode of the same seed next to it. */
export async function renderEpisode(
  agent: { folder: string; manifest: AgentManifest; shown: string },
  format: Format,
  flags: RenderFlags,
  context: CommandContext,
): Promise<void> {
  const { seed = 0, episode: number = 0, theme = 'light', beside, render = '' } = flags
  const { symbols } = context.terminal
  const scenario = await obtainAgentScenario(agent.manifest, flags.scenario, context)
  const play = (player: { agent: string } | 'random', name: string) =>
    record(scenario, { player, name, seed, number }, context)
  const recordings = [await play({ agent: agent.folder }, agent.shown)]
  if (beside === 'random') recordings.push(await play('random', 'random'))
  else if (beside !== undefined)
    recordings.push(await play({ agent: await resolveAgentFolder(beside, context) }, beside))
  const path = context.resolve(render)
  const { name, version } = agent.manifest.scenario
  const title = `${name}@${version}, episode ${number + 1} of seed ${seed}`
  const about = recordings.map(({ player, episode }) => `${player}: ${episodeSummary(episode)}`).join(' ')
  const bytes = await fileOf(recordings, format, { theme, step: flags.step, title, about })
  await namingFile(path, () => writeFile(path, bytes))
  const hashes = recordings.map(({ player, trajectoryHash, episode }) => ({
    ...{ player, steps: lastStep(episode), trajectory_hash: trajectoryHash },
  }))
  context.printJson({ file: path, format: format.slice(1), episode: number, seed, players: hashes })
  const size = formatBytes(typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length)
  context.print(`${symbols.ok} Wrote ${safeText(context.displayPath(path))} (${size})`)
}

type Played = { player: { agent: string } | 'random'; name: string; seed: number; number: number }

async function record(
  scenario: BuiltScenario,
  { player, name, seed, number }: Played,
  context: CommandContext,
): Promise<Recording> {
  const { openPlay } = await context.runtime()
  const session = await openPlay({ scenario, player, seed })
  try {
    return await recordEpisode(session, number, safeText(name, 120))
  } finally {
    await session.close()
  }
}

type FileOptions = { theme: Theme; step: number | undefined; title: string; about: string }

async function fileOf(
  recordings: Recording[],
  format: Format,
  { theme, step, title, about }: FileOptions,
): Promise<string | Uint8Array> {
  if (format === '.html') return (await import('../rendering/write-html.ts')).htmlOf(recordings, { title, about })
  const { gifOf, pngOf } = await import('../rendering/write-images.ts')
  return format === '.gif' ? gifOf(recordings, theme) : pngOf(recordings, step ?? null, theme)
}
