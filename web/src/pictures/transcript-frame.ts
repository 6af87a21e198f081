import type { SampleEpisode } from '@agentgym/contract'
import { FRAME_HEIGHT, FRAME_WIDTH, type ViewOf } from './scene.ts'
import { shownNumber } from './shown-number.ts'
import { type SvgElement, svg } from './svg-element.ts'
import { transcriptCalls, transcriptTexts } from './transcript-lines.ts'
import { wrapText } from './wrap-text.ts'

const LEFT = 18
const LINE = 13
/** Characters of the typeface, all of one width, between the margins. */
const WIDE = 46
const TEXT_LINES = 6

/** The text, and the last calls that were made about it; `replay` shows all of them as text. */
export function transcriptFrame(
  episode: SampleEpisode,
  { facts }: ViewOf<'transcript'>,
  index: number,
): (SvgElement | null)[] {
  const said = wrapText(transcriptTexts(episode).join('\n'), WIDE, TEXT_LINES)
  const textBottom = 14 + said.length * LINE + 8
  const room = Math.floor((FRAME_HEIGHT - textBottom - 14) / (LINE + 4))
  const calls = transcriptCalls(episode, facts).slice(0, index)
  const first = Math.max(0, calls.length - room)
  return [
    svg('rect', { class: 'pic-sheet', x: 8, y: 8, width: FRAME_WIDTH - 16, height: textBottom - 8, rx: 4 }),
    ...said.map((line, i) => svg('text', { class: 'pic-text pic-strong', x: LEFT, y: 23 + i * LINE }, line)),
    ...calls.slice(first).map(({ action, reward }, i) => {
      const y = textBottom + 16 + i * (LINE + 4)
      return svg(
        'g',
        {},
        svg('path', { class: 'pic-call', d: `M${LEFT - 2} ${y - 8}l5 4.5l-5 4.5` }),
        svg('text', { class: 'pic-text pic-strong', x: LEFT + 10, y }, wrapText(action, WIDE - 10, 1)[0] ?? ''),
        svg('text', { class: 'pic-text pic-text-end', x: FRAME_WIDTH - LEFT, y }, signed(reward)),
      )
    }),
  ]
}

function signed(reward: number): string {
  return reward > 0 ? `+${shownNumber(reward)}` : shownNumber(reward)
}
