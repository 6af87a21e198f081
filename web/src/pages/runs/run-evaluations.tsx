import type { EvaluationJob, Run } from '@agentgym/contract'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Figure, Figures } from '../../components/figure.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { usePage } from '../../layout/page-context.ts'
import { shownNumber } from '../../pictures/shown-number.ts'
import { accountsOf } from '../market/accounts-of.ts'
import type { RefusedForm } from './refused-form.ts'

type RunEvaluationsProps = {
  run: Run
  /** One that was asked for here, and that the address names. */
  asked: EvaluationJob | null
  refused: RefusedForm | null
}

/** Has a worker play a run's agent on other episodes, and tells what came of it. */
export function RunEvaluations({ run, asked, refused }: RunEvaluationsProps) {
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
          {evaluation.return_std !== null && <span class="dim"> ± {shownNumber(evaluation.return_std)}</span>}
        </Figure>
        {evaluation.success.criteria.map(({ metric, target, value, ok }) => (
          <Figure label={metric} note={`target ${shownNumber(target)}`}>
            {shown(value)} <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'met' : 'missed'}</Badge>
          </Figure>
        ))}
      </Figures>
    </section>
  )
}

const shown = (value: number | null) => (value === null ? '–' : shownNumber(value))
