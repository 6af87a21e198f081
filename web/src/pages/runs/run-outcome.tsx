import type { EvaluationJob, Run } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { packageAddress } from '../../components/package-address.ts'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { shownNumber } from '../../pictures/shown-number.ts'
import { shownBytes } from '../package/shown-bytes.ts'
import { PublishForm } from './publish-form.tsx'
import type { Checkpoint } from './read-run.ts'
import type { RefusedForm } from './refused-form.ts'
import { RunEvaluations } from './run-evaluations.tsx'

type RunOutcomeProps = {
  run: Run
  checkpoints: Checkpoint[]
  asked: EvaluationJob | null
  refused: RefusedForm | null
}

/** What a run leaves: the agent with its evaluation, checkpoints, figures to take away. */
export function RunOutcome({ run, checkpoints, asked, refused }: RunOutcomeProps) {
  return (
    <div class="run-outcome">
      {run.evaluation !== null && <RunEvaluation run={run} asked={asked} refused={refused} />}
      <section aria-labelledby="checkpoints">
        <h2 id="checkpoints">Checkpoints</h2>
        {checkpoints.length === 0 ? (
          <p class="dim">
            {run.ended_at === null
              ? 'None yet. A run goes on from its last one when a worker is lost.'
              : 'None is kept.'}
          </p>
        ) : (
          <Table
            caption="Checkpoints that are kept"
            rows={checkpoints}
            columns={[
              { title: 'Iteration', heading: true, cell: ({ iteration }) => iteration },
              { title: 'Steps', numeric: true, cell: ({ steps }) => steps.toLocaleString('en') },
              { title: 'Size', numeric: true, cell: ({ size }) => shownBytes(size) },
              { title: 'Saved', cell: ({ created_at }) => <Time at={created_at} />, wide: true },
              {
                title: 'File',
                cell: ({ iteration }) => (
                  <a
                    href={`/v1/runs/${run.id}/checkpoints/${iteration}`}
                    aria-label={`Download checkpoint ${iteration}`}
                  >
                    Download
                  </a>
                ),
              },
            ]}
          />
        )}
        <p class="run-files">
          Figures: <a href={`/v1/runs/${run.id}/metrics.csv`}>CSV</a>,{' '}
          <a href={`/v1/runs/${run.id}/metrics.tfevents`}>TensorBoard</a>,{' '}
          <a href={`/v1/runs/${run.id}/trajectories`}>trajectories</a>
        </p>
      </section>
    </div>
  )
}

function RunEvaluation({ run, asked, refused }: Omit<RunOutcomeProps, 'checkpoints'>) {
  const { evaluation, agent } = run
  if (evaluation === null) return null
  return (
    <section aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <Figures>
        <Figure label="Evaluated" note={`over ${evaluation.episodes} held-out episodes`}>
          {evaluation.return_mean === null ? '–' : shownNumber(evaluation.return_mean)}
        </Figure>
        {evaluation.success.criteria.map(({ metric, target, value, ok }) => (
          <Figure label={metric} note={`target ${shownNumber(target)}`}>
            {value === null ? '–' : shownNumber(value)}{' '}
            <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'met' : 'missed'}</Badge>
          </Figure>
        ))}
      </Figures>
      {agent !== null && (
        <div class="run-agent">
          {agent.package === null ? (
            <p class="dim">
              Not published: only those who see this run have it. Publishing plays it again and signs the result.
            </p>
          ) : (
            <Button look="primary" href={packageAddress(agent.package.name)}>
              {agent.package.name}@{agent.package.version}
            </Button>
          )}
          <Button href={`/v1/runs/${run.id}/agent`}>Download, {shownBytes(agent.size)}</Button>
        </div>
      )}
      {agent !== null && <PublishForm run={run} refused={refused} />}
      {agent !== null && <RunEvaluations run={run} asked={asked} refused={refused} />}
    </section>
  )
}
