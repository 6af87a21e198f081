import type { Run } from '@agentgym/contract'
import { Outcome } from '../../components/outcome.tsx'
import type { ReadRun } from './read-run.ts'

/** The outcome before everything else; of a run without one, its last evaluation. */
export function RunResult({ run, evaluations }: RunResultProps) {
  const last = evaluations.at(-1)
  const evaluation = run.evaluation ?? last?.evaluation
  if (evaluation === undefined) return null
  const episodes = `${evaluation.episodes.toLocaleString('en')} held-out ${evaluation.episodes === 1 ? 'episode' : 'episodes'}`
  return (
    <p class="outcome-line run-result">
      <Outcome success={evaluation.success} returnMean={evaluation.return_mean} />{' '}
      <span class="dim">
        on {episodes}
        {run.evaluation === null ? `, evaluated at ${last?.steps.toLocaleString('en')} steps` : `; ${finishText(run)}`}
      </span>
    </p>
  )
}

type RunResultProps = { run: Pick<Run, 'evaluation' | 'progress'>; evaluations: ReadRun['evaluations'] }

/** `stopped early at 20,224 steps`, `trained 100,000 steps`. */
function finishText({ progress }: Pick<Run, 'progress'>): string {
  if (progress === null) return 'not trained'
  const steps = `${progress.steps.toLocaleString('en')} steps`
  return progress.steps < progress.steps_total ? `stopped early at ${steps}` : `trained ${steps}`
}

/** As they were used. */
export function RunSettings({ settings }: Pick<Run, 'settings'>) {
  return (
    <details class="run-settings">
      <summary>
        <h2>Settings</h2>
      </summary>
      <dl>
        {Object.entries(settings).map(([name, value]) => (
          <div>
            <dt class="mono">{name}</dt>
            <dd class="mono">{JSON.stringify(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
