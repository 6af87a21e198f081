import { actionName, choiceName, type Episode, svg as element, type SvgElement } from '@agentgym/pictures'

/**
 * What is done upon the observation of step `index`, as an HTML element: the action and, of a policy that has them, the
 * probabilities of its likeliest choices, in the order of the action space so that rows keep their places while it plays.
 */
export function decision(episode: Episode, index: number): SvgElement {
  const step = episode.steps[index]
  const likely = (step?.likely ?? []).toSorted((a, b) => a.choice - b.choice)
  return element(
    'div',
    { class: 'decision' },
    element(
      'p',
      { class: 'decision-action' },
      element('span', { class: 'dim' }, step === undefined ? 'Episode' : 'Next action'),
      element('span', { class: 'mono' }, step === undefined ? 'ended' : actionName(episode, step.action)),
    ),
    likely.length === 0
      ? null
      : element(
          'ul',
          { class: 'likely', 'aria-label': 'Probabilities' },
          ...likely.map(({ choice, probability }) =>
            element(
              'li',
              { class: choice === step?.action[0] ? 'likely-row likely-chosen' : 'likely-row' },
              element('span', { class: 'likely-name' }, choiceName(episode, choice)),
              bar(probability),
              element('span', { class: 'likely-share' }, `${Math.round(probability * 100)}%`),
            ),
          ),
        ),
  )
}

/** The percentage beside it says the same. */
function bar(probability: number): SvgElement {
  return element(
    'svg',
    { class: 'likely-bar', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    element('rect', { class: 'likely-rest', width: 100, height: 6 }),
    element('rect', { class: 'likely-part', width: 100 * probability, height: 6 }),
  )
}
