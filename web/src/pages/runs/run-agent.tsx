import type { EvaluationJob, Run } from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { Figure, Figures } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import { shownBytes } from '../package/shown-bytes.ts'
import type { Checkpoint, RefusedForm } from './read-run.ts'

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
          {evaluation.return_mean === null ? '–' : formatValue(evaluation.return_mean)}
        </Figure>
        {evaluation.success.criteria.map(({ metric, target, value, ok }) => (
          <Figure label={metric} note={`target ${formatValue(target)}`}>
            {value === null ? '–' : formatValue(value)}{' '}
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

/** The codes of the API that are about one field of this form. */
export const publishFieldOf = {
  name_invalid: 'name',
  name_taken: 'name',
  package_kind_changed: 'name',
  forbidden: 'name',
  version_invalid: 'version',
  version_exists: 'version',
  package_visibility_fixed: 'visibility',
} as const

/** Publishes the agent of a run that has ended; nothing for those who may not. */
function PublishForm({ run, refused }: { run: Run; refused: RefusedForm | null }) {
  const { account, host } = usePage()
  if (account === null || !accountsOf(account, 'member').includes(run.owner)) return null
  const ours = refused?.form === 'publish' ? refused : null
  const failure = ours?.failure ?? null
  const typed = (field: string, otherwise = '') => (ours === null ? otherwise : ours.values.get(field))
  const again = run.agent?.package !== null
  return (
    <details class="more" open={!again || ours !== null}>
      <summary>{again ? 'Publish it under another name or version' : 'Publish it'}</summary>
      <Form
        action={`/runs/${run.id}/publish`}
        failure={failure}
        fields={['name', 'version', 'visibility', 'amount_minor']}
        label="Publish the agent"
      >
        <Field
          label="Name"
          name="name"
          required
          value={typed('name', `@${run.owner}/${agentName(run)}`)}
          help="@scope/name. The scope is yours or an organisation's."
          failure={failure}
          maxlength={214}
        />
        <Field
          label="Version"
          name="version"
          value={typed('version')}
          help="Left empty, the next one that is free."
          failure={failure}
          maxlength={64}
        />
        <Field
          label="Who sees it"
          name="visibility"
          required
          value={typed('visibility')}
          options={[
            { value: '', label: 'As the package is; a new one everybody' },
            { value: 'public', label: 'Everybody' },
            { value: 'private', label: 'Members of the account' },
          ]}
          failure={failure}
        />
        {accountsOf(account, 'admin').length > 0 && (
          <Field
            label={`Price, in ${host.currency}`}
            name="amount_minor"
            value={typed('amount_minor')}
            help="For a licence. Left empty, a new package is free, and one that has a price keeps it."
            failure={failure}
            maxlength={24}
          />
        )}
        <Button look="primary">Publish the agent</Button>
      </Form>
    </details>
  )
}

/** As training calls an agent: `cart-pole-ppo`. */
function agentName({ scenario, algorithm }: Run): string {
  return `${scenario.name.split('/').at(-1)}-${algorithm}`
}

type RunEvaluationsProps = {
  run: Run
  /** One that was asked for here, and that the address names. */
  asked: EvaluationJob | null
  refused: RefusedForm | null
}

/** Has a worker play a run's agent on other episodes, and tells what came of it. */
function RunEvaluations({ run, asked, refused }: RunEvaluationsProps) {
  const { account } = usePage()
  const may = account !== null && accountsOf(account, 'member').includes(run.owner)
  const ours = refused?.form === 'evaluate' ? refused : null
  const failure = ours?.failure ?? null
  if (asked === null && !may) return null
  return (
    <>
      {asked !== null && <Asked run={run} asked={asked} />}
      {may && (
        <details class="more" open={ours !== null}>
          <summary>Evaluate it on other episodes</summary>
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
              help="The same seed gives the same episodes again."
              failure={failure}
            />
            <Button look="primary">Evaluate</Button>
          </Form>
        </details>
      )}
    </>
  )
}

function Asked({ run, asked: { id, state, episodes, seed, evaluation, error } }: { run: Run; asked: EvaluationJob }) {
  const what = `${episodes.toLocaleString('en')} ${episodes === 1 ? 'episode' : 'episodes'}, seed ${seed}`
  if (error !== null)
    return (
      <Notice kind="failure">
        The evaluation of {what} failed: {error.message} {error.hint} <code>{error.code}</code>
      </Notice>
    )
  if (evaluation === null)
    return (
      <Notice kind="info">
        {state === 'running' ? 'A worker plays' : 'A worker will play'} {what}.{' '}
        <a href={`/runs/${run.id}?evaluation=${id}#agent`}>Look again</a>
      </Notice>
    )
  return (
    <section aria-label="The evaluation that was asked for">
      <Figures>
        <Figure label="Mean return" note={`over ${what}`}>
          {shown(evaluation.return_mean)}
          {evaluation.return_std !== null && <span class="dim"> ± {formatValue(evaluation.return_std)}</span>}
        </Figure>
        {evaluation.success.criteria.map(({ metric, target, value, ok }) => (
          <Figure label={metric} note={`target ${formatValue(target)}`}>
            {shown(value)} <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'met' : 'missed'}</Badge>
          </Figure>
        ))}
      </Figures>
    </section>
  )
}

const shown = (value: number | null) => (value === null ? '–' : formatValue(value))
