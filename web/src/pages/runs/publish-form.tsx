import type { Run } from '@agentgym/contract'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../market/accounts-of.ts'
import type { RefusedForm } from './refused-form.ts'

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
export function PublishForm({ run, refused }: { run: Run; refused: RefusedForm | null }) {
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
