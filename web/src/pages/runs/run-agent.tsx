import type { Evaluation, EvaluationJob, Run } from '@agentgym/contract'
import { type Criterion, criterionTexts, formatMetric, metricLabel } from '@agentgym/contract/metrics'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { LevelTable } from '../../components/level-table.tsx'
import { Notice } from '../../components/messages.tsx'
import { Metric, Metrics } from '../../components/metrics.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { formatBytes, formatCount, withHint } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import type { ReadRun, RefusedForm } from './read-run.ts'
import { NextSteps } from './run-next-steps.tsx'

type RunOutcomeProps = {
  read: Pick<ReadRun, 'run' | 'checkpoints' | 'log' | 'published'>
  requested: EvaluationJob | null
  refused: RefusedForm | null
  justPublished: boolean
}

/** Results of a run: agent, evaluation, checkpoints and downloads. */
export function RunOutcome(props: RunOutcomeProps) {
  const { run, checkpoints } = props.read
  return (
    <div class="run-outcome">
      {run.evaluation !== null && <RunEvaluation {...props} />}
      <section aria-labelledby="checkpoints">
        <h2 id="checkpoints">Checkpoints</h2>
        {checkpoints.length === 0 ? (
          <p class="dim">
            {run.ended_at === null
              ? 'No checkpoints yet. If its worker is lost, a run resumes from the last one.'
              : 'No checkpoints kept.'}
          </p>
        ) : (
          <Table
            caption="Saved checkpoints"
            rows={checkpoints}
            columns={[
              { title: 'Iteration', heading: true, cell: ({ iteration }) => iteration },
              { title: 'Steps', numeric: true, cell: ({ steps }) => steps.toLocaleString('en') },
              { title: 'Size', numeric: true, cell: ({ size }) => formatBytes(size) },
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
          Download: <a href={`/v1/runs/${run.id}/trajectories`}>sampled trajectories</a>
        </p>
      </section>
    </div>
  )
}

function RunEvaluation({ read, requested, refused, justPublished }: RunOutcomeProps) {
  const { run } = read
  const { evaluation, agent } = run
  if (evaluation === null) return null
  return (
    <section aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <NextSteps read={read} justPublished={justPublished} />
      <EvaluationMetrics
        evaluation={evaluation}
        note={`${evaluation.episodes.toLocaleString('en')} held-out episodes`}
      />
      <LevelTable evaluation={evaluation} />
      {agent !== null && (
        <div class="run-agent">
          <Button href={`/v1/runs/${run.id}/agent`}>Download ({formatBytes(agent.size)})</Button>
        </div>
      )}
      {agent !== null && <PublishForm run={run} refused={refused} />}
      {agent !== null && <RunEvaluations run={run} requested={requested} refused={refused} />}
    </section>
  )
}

/** Error codes about a single field of this form. */
export const publishFieldOf = {
  name_invalid: 'name',
  name_taken: 'name',
  package_kind_changed: 'name',
  forbidden: 'name',
  version_invalid: 'version',
  version_exists: 'version',
  package_visibility_fixed: 'visibility',
  package_summary_missing: 'summary',
  package_summary_placeholder: 'summary',
} as const

/** Publishes the agent of a completed run; nothing for visitors who may not. */
function PublishForm({ run, refused }: { run: Run; refused: RefusedForm | null }) {
  const { account, host } = usePage()
  if (account === null || !accountsOf(account, 'member').includes(run.owner)) return null
  const ours = refused?.form === 'publish' ? refused : null
  const failure = ours?.failure ?? null
  const typed = (field: string, otherwise = '') => (ours === null ? otherwise : ours.values.get(field))
  const again = run.agent?.package !== null
  return (
    <details class="more" id="publish" open={!again || ours !== null}>
      <summary>{again ? 'Publish under another name or version' : 'Publish agent'}</summary>
      <Form
        action={`/runs/${run.id}/publish`}
        failure={failure}
        fields={['name', 'summary', 'version', 'visibility', 'amount_minor']}
        label="Publish the agent"
      >
        <Field
          label="Name"
          name="name"
          required
          value={typed('name', `@${run.owner}/${agentName(run)}`)}
          help="@scope/name, where the scope is your username or an organization."
          failure={failure}
          maxlength={214}
        />
        <Field
          label="Summary"
          name="summary"
          value={typed('summary')}
          help="One sentence on what the agent does. Leave empty to keep that of an existing package."
          failure={failure}
          maxlength={280}
        />
        <Field
          label="Version"
          name="version"
          value={typed('version')}
          help="Leave empty for the next free version."
          failure={failure}
          maxlength={64}
        />
        <Field
          label="Visibility"
          name="visibility"
          required
          value={typed('visibility')}
          options={[
            { value: '', label: 'Default: public for a new package' },
            { value: 'public', label: 'Public' },
            { value: 'private', label: 'Private: members only' },
          ]}
          failure={failure}
        />
        {accountsOf(account, 'admin').length > 0 && (
          <Field
            label={`Price (${host.currency})`}
            name="amount_minor"
            value={typed('amount_minor')}
            help="License price. Leave empty to keep the current price; a new package is free."
            failure={failure}
            maxlength={24}
          />
        )}
        <Button look="primary">Publish agent</Button>
      </Form>
    </details>
  )
}

/** The default name of an agent: `cart-pole-ppo`. */
function agentName({ scenario, algorithm }: Run): string {
  return `${scenario.name.split('/').at(-1)}-${algorithm}`
}

type RunEvaluationsProps = {
  run: Run
  /** The evaluation requested here, from the URL. */
  requested: EvaluationJob | null
  refused: RefusedForm | null
}

/** Evaluates a run's agent on other episodes, and shows the result. */
function RunEvaluations({ run, requested, refused }: RunEvaluationsProps) {
  const { account } = usePage()
  const may = account !== null && accountsOf(account, 'member').includes(run.owner)
  const ours = refused?.form === 'evaluate' ? refused : null
  const failure = ours?.failure ?? null
  if (requested === null && !may) return null
  return (
    <>
      {requested !== null && <RequestedEvaluation run={run} requested={requested} />}
      {may && (
        <details class="more" open={ours !== null}>
          <summary>Evaluate on other episodes</summary>
          <Form
            action={`/runs/${run.id}/evaluate`}
            failure={failure}
            fields={['episodes', 'seed']}
            label="Evaluate the agent"
          >
            <Field
              label="Episodes"
              name="episodes"
              type="number"
              required
              min="1"
              max="100000"
              value={ours === null ? '100' : ours.values.get('episodes')}
              failure={failure}
            />
            <Field
              label="Seed"
              name="seed"
              type="number"
              required
              min="0"
              max="4294967295"
              value={ours === null ? '0' : ours.values.get('seed')}
              help="The same seed gives the same episodes."
              failure={failure}
            />
            <Button look="primary">Evaluate</Button>
          </Form>
        </details>
      )}
    </>
  )
}

function RequestedEvaluation({
  run,
  requested: { id, state, episodes, seed, evaluation, error },
}: {
  run: Run
  requested: EvaluationJob
}) {
  const what = `${formatCount(episodes, 'episode')}, seed ${seed}`
  if (error !== null)
    return (
      <Notice kind="failure">
        The evaluation of {what} failed: {withHint(error)} <code>{error.code}</code>
      </Notice>
    )
  if (evaluation === null)
    return (
      <Notice kind="info">
        {state === 'running' ? 'Evaluating' : 'Evaluation queued:'} {what}.{' '}
        <a href={`/runs/${run.id}?evaluation=${id}#agent`}>Check again</a>
      </Notice>
    )
  return (
    <section aria-label="Requested evaluation">
      <p class="outcome-line">
        <Outcome success={evaluation.success} returnMean={evaluation.return_mean} />
      </p>
      <EvaluationMetrics evaluation={evaluation} note={`over ${what}`} />
      <LevelTable evaluation={evaluation} />
    </section>
  )
}

/** Mean return of an evaluation, and each target where there are several. */
function EvaluationMetrics({ evaluation, note }: { evaluation: Omit<Evaluation, 'seed'>; note: string }) {
  const { success, return_mean, return_std } = evaluation
  return (
    <Metrics>
      <Metric label="Mean return" note={note}>
        {formatMetric(return_mean)}
        {return_std !== null && <span class="dim"> ± {formatMetric(return_std)}</span>}
      </Metric>
      {success.criteria.length > 1 && success.criteria.map((criterion) => <CriterionMetric criterion={criterion} />)}
    </Metrics>
  )
}

function CriterionMetric({ criterion }: { criterion: Criterion }) {
  const { value, target } = criterionTexts(criterion)
  return (
    <Metric label={metricLabel(criterion.metric)} note={`target ${target}`}>
      {value} <Badge tone={criterion.ok ? 'good' : 'bad'}>{criterion.ok ? 'met' : 'missed'}</Badge>
    </Metric>
  )
}
