import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { escapeOutput, type RecordedEpisode } from '@agentgym/contract'
import { episodeView, lastStep, readPictureStyles, terminalFrame } from '@agentgym/pictures'

/** Lines and columns of a terminal that was never resized. */
const SIZE = { columns: 80, rows: 24 }

let styles: ReturnType<typeof readPictureStyles> | undefined

/** The last moment of an episode as lines of text, as `agentgym play` draws it, without colors. */
export function terminalPicture(episode: RecordedEpisode): string {
  styles ??= readPictureStyles(
    readFileSync(fileURLToPath(import.meta.resolve('@agentgym/pictures/styles/pictures.css')), 'utf8'),
  )
  const size = { ...SIZE, unicode: true, color: false, styles }
  const rows = terminalFrame(episode, episodeView(episode), lastStep(episode), size)
  // Texts of a scenario: nothing in them may steer a terminal.
  return rows.map((row) => escapeOutput(row.map(({ text }) => text).join(''), SIZE.columns).trimEnd()).join('\n')
}
