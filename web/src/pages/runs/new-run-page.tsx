import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { usePage } from '../../layout/page-context.ts'
import { OnceKey } from '../market/once-key.tsx'
import { shownMachines } from './shown-machines.ts'

/** Every field as typed. */
export type NewRunValues = Record<(typeof newRunFields)[number], string>
export const newRunFields = [
  'scenario',
  'algorithm',
  'steps',
  'seed',
  'settings',
  'budget_minor',
  'publish',
  'visibility',
  'account',
  'note',
  'expected_price',
] as const

type NewRunPageProps = {
  values: NewRunValues
  accounts: string[]
  machines: Parameters<typeof shownMachines>[0] | null
  failure?: FormFailure | null
  /** Of the scenario, where a run of it is paid for. */
  priceWords: string | null
  once?: string
}

/** Starts a run: what to train on, and for how long; the rest has the scenario's own values. */
export function NewRunPage({ values, accounts, machines, failure = null, priceWords, once }: NewRunPageProps) {
  const { host } = usePage()
  return (
    <div class="desk desk-narrow">
      <h1>Start a run</h1>
      <p class="lead">
        {machines === null || machines.workers.length === 0
          ? 'No worker is connected now. The run waits until one is.'
          : shownMachines(machines, host.currency)}
      </p>
      <Form action="/runs/new" failure={failure} fields={[...newRunFields]}>
        <OnceKey once={once} />
        <input type="hidden" name="expected_price" value={values.expected_price} />
        <Field
          label="Scenario"
          name="scenario"
          required
          value={values.scenario}
          help="@scope/name, with @version or a range if it is not to be the latest."
          failure={failure}
        />
        <Field
          label="Steps"
          name="steps"
          type="number"
          min="1"
          value={values.steps}
          help="Environment steps in all. Left empty, the scenario's own."
          failure={failure}
        />
        <Field
          label={`Budget in ${host.currency}`}
          name="budget_minor"
          value={values.budget_minor}
          help="At the limit the run stops with a checkpoint and can go on. Left empty, there is no limit."
          failure={failure}
        />
        <Field
          label="Publish the agent as"
          name="publish"
          value={values.publish}
          help="@scope/name, once the run has completed. Left empty, it stays with the run."
          failure={failure}
        />
        <MoreSettings values={values} accounts={accounts} failure={failure} />
        {priceWords !== null && <Notice kind="info">{priceWords}</Notice>}
        <Button look="primary">Start the run</Button>
      </Form>
    </div>
  )
}

function MoreSettings({ values, accounts, failure }: Pick<NewRunPageProps, 'values' | 'accounts' | 'failure'>) {
  const changed = ['algorithm', 'seed', 'settings', 'note'] as const
  const open = changed.some((field) => values[field] !== '' || failure?.fields[field] !== undefined)
  return (
    <details class="more" open={open}>
      <summary>Algorithm, seed, settings, note</summary>
      <div class="more-fields">
        {accounts.length > 1 && (
          <Field
            label="Account"
            name="account"
            required
            value={values.account}
            options={accounts.map((account) => ({ value: account, label: account }))}
            failure={failure}
          />
        )}
        <Field
          label="Algorithm"
          name="algorithm"
          value={values.algorithm}
          options={[
            { value: '', label: 'The scenario’s own' },
            { value: 'ppo', label: 'PPO' },
            { value: 'grpo', label: 'GRPO' },
          ]}
          failure={failure}
        />
        <Field
          label="Seed"
          name="seed"
          type="number"
          min="0"
          value={values.seed}
          help="1 unless told."
          failure={failure}
        />
        <Field
          label="Settings"
          name="settings"
          rows={4}
          value={values.settings}
          help="One a line, as agentgym train --set takes them: learning_rate=0.001"
          failure={failure}
        />
        <Field
          label="The published agent is"
          name="visibility"
          value={values.visibility}
          options={[
            { value: '', label: 'Public' },
            { value: 'private', label: 'Private' },
          ]}
          failure={failure}
        />
        <Field
          label="Note"
          name="note"
          maxlength={200}
          value={values.note}
          help="The run's name in lists."
          failure={failure}
        />
      </div>
    </details>
  )
}
