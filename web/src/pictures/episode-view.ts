import { type SampleEpisode, type ScenarioView, viewProblem } from '@agentgym/contract'

/** How an episode is drawn: as its scenario wants it, if what is in it allows that. */
export function episodeView(episode: SampleEpisode): ScenarioView | null {
  const { view, observation, action, steps } = episode
  if (view === null) return null
  const [only] = action
  const spaces = {
    columns: Math.min(...[...steps, episode.last].map((seen) => seen.observation.length)),
    texts: observation.filter(({ kind }) => kind === 'text').length,
    choices: action.length === 1 && only.kind === 'discrete' ? choicesOf(view, only.labels.length) : null,
  }
  return viewProblem(view, spaces) === null ? view : null
}

/** Labels may be fewer than choices, or none: then the view, which was checked against the space itself, knows. */
function choicesOf(view: ScenarioView, labels: number): number {
  return labels > 0 ? labels : view.kind === 'grid' ? (view.moves?.length ?? 0) : 0
}
