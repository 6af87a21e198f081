import type { Run } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'

type RunActionsProps = { run: Run; failure: FormFailure | null; typedBudget?: string }

/** What can be done about a run now. */
export function RunActions({ run, failure, typedBudget }: RunActionsProps) {
  const goesOn = run.state === 'queued' || run.state === 'running'
  const again = new URLSearchParams({ scenario: `${run.scenario.name}@${run.scenario.version}`, like: run.id })
  return (
    <div class="run-actions">
      {run.state === 'budget_exceeded' && (
        <Form action={`/runs/${run.id}/resume`} look="inline" failure={failure} fields={['budget_minor']}>
          <Field
            label={`New budget for the whole run, in ${run.cost.currency}`}
            name="budget_minor"
            required
            value={typedBudget}
            failure={failure}
          />
          <Button look="primary">Go on</Button>
        </Form>
      )}
      {goesOn && !run.cancel_requested && (
        <Form action={`/runs/${run.id}/cancel`} look="inline" failure={failure}>
          <Button look="danger">Cancel the run</Button>
        </Form>
      )}
      {!goesOn && <Button href={`/runs/new?${again}`}>Train again</Button>}
      <Button href={`/runs/compare?ids=${run.id}`}>Compare</Button>
    </div>
  )
}
