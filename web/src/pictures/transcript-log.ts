import { formatValue } from '@agentgym/contract/charts'
import {
  type Episode,
  svg as element,
  type SvgElement,
  transcriptCalls,
  transcriptTexts,
  type ViewOf,
} from '@agentgym/pictures'

/**
 * A text and all calls made about it, as an HTML element with the calls up to step `index` emphasized. Texts run in the
 * direction of their own script.
 */
export function transcriptLog(episode: Episode, view: ViewOf<'transcript'>, index: number): SvgElement {
  return element(
    'div',
    { class: 'transcript' },
    ...transcriptTexts(episode).map((text) => element('p', { class: 'transcript-text', dir: 'auto' }, text)),
    element(
      'ol',
      { class: 'transcript-calls' },
      ...transcriptCalls(episode, view).map(({ action, reward, changes }, call) =>
        element(
          'li',
          { class: 'transcript-call', 'data-state': stateOf(call + 1, index) },
          element('span', { class: 'transcript-action' }, action),
          element(
            'span',
            { class: 'transcript-reward', 'data-sign': Math.sign(reward) },
            `${reward > 0 ? '+' : ''}${formatValue(reward)}`,
          ),
          changes.length === 0
            ? null
            : element(
                'ul',
                { class: 'transcript-changes' },
                ...changes.map((change) => element('li', { dir: 'auto' }, change)),
              ),
        ),
      ),
    ),
  )
}

function stateOf(step: number, index: number): string {
  if (step === index) return 'now'
  return step < index ? 'past' : 'ahead'
}
