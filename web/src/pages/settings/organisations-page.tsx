import type { OwnAccount } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { SettingsFrame } from './settings-frame.tsx'

type OrganisationsPageProps = {
  organisations: OwnAccount['organisations']
  values?: { username: string; display_name: string }
  failure?: FormFailure | null
}

/** Organisations that one belongs to, and a new one. */
export function OrganisationsPage({ organisations, values, failure = null }: OrganisationsPageProps) {
  return (
    <SettingsFrame>
      <section aria-labelledby="organisations">
        <h2 id="organisations">Organisations</h2>
        {organisations.length === 0 ? (
          <EmptyState title="Organisations own packages, runs and money together">
            <p>Each has a scope of its own, and members with roles.</p>
          </EmptyState>
        ) : (
          <Table
            caption="Organisations and your roles"
            rows={organisations}
            columns={[
              {
                title: 'Organisation',
                heading: true,
                cell: ({ username }) => <a href={`/settings/organisations/${username}`}>{username}</a>,
              },
              { title: 'Your role', cell: ({ role }) => <Badge>{role}</Badge> },
              { title: 'Profile', cell: ({ username }) => <a href={`/@${username}`}>@{username}</a> },
            ]}
          />
        )}
      </section>
      <section aria-labelledby="new-organisation">
        <h2 id="new-organisation">Make an organisation</h2>
        <Form action="/settings/organisations" failure={failure} fields={['username', 'display_name']}>
          <Field
            label="Name"
            name="username"
            required
            value={values?.username}
            help="Its scope: @name/package. It cannot be changed."
            failure={failure}
          />
          <Field label="Shown as" name="display_name" maxlength={80} value={values?.display_name} failure={failure} />
          <Button look="primary">Make the organisation</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}
