import type { OwnAccount } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Table } from '../../components/table.tsx'
import { usePage } from '../../layout/page-context.ts'
import { SettingsFrame } from './settings-frame.tsx'

type Role = OwnAccount['organisations'][number]['role']
export type Organisation = {
  username: string
  display_name: string | null
  members?: { username: string; role: Role }[]
}

type OrganisationPageProps = {
  organisation: Organisation
  values?: { username: string; role: string }
  failure?: FormFailure | null
}

const roles: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer: sees what is private' },
  { value: 'member', label: 'member: publishes, trains' },
  { value: 'admin', label: 'admin: manages packages and members' },
  { value: 'owner', label: 'owner: everything' },
]

/** Members of an organisation and their roles. */
export function OrganisationPage({ organisation, values, failure = null }: OrganisationPageProps) {
  const { account } = usePage()
  const { username, display_name, members = [] } = organisation
  const own = members.find((member) => member.username === account?.username)?.role
  const manages = own === 'owner' || own === 'admin'
  return (
    <SettingsFrame>
      <section aria-labelledby="organisation">
        <h2 id="organisation">{display_name ?? username}</h2>
        <p class="settings-row">
          <a class="mono" href={`/@${username}`}>
            @{username}
          </a>
          {own !== undefined && <Badge>{own}</Badge>}
        </p>
        <MemberTable organisation={username} members={members} manages={manages} />
      </section>
      {manages && (
        <section aria-labelledby="add">
          <h2 id="add">Add a member, or change a role</h2>
          <Form action={`/settings/organisations/${username}/members`} failure={failure} fields={['username', 'role']}>
            <Field label="Username" name="username" required value={values?.username} failure={failure} />
            <Field
              label="Role"
              name="role"
              required
              value={values?.role ?? 'member'}
              options={roles}
              help="Only owners give and take the role of owner."
              failure={failure}
            />
            <Button look="primary">Save</Button>
          </Form>
        </section>
      )}
    </SettingsFrame>
  )
}

type MemberTableProps = { organisation: string; members: { username: string; role: Role }[]; manages: boolean }

function MemberTable({ organisation, members, manages }: MemberTableProps) {
  const { account } = usePage()
  return (
    <Table
      caption="Members"
      rows={members}
      columns={[
        { title: 'Member', heading: true, cell: ({ username }) => <a href={`/@${username}`}>{username}</a> },
        { title: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
        {
          title: 'Action',
          cell: ({ username }) =>
            (manages || username === account?.username) && (
              <Form
                action={`/settings/organisations/${organisation}/members/remove`}
                look="inline"
                label={`Member ${username}`}
              >
                <Button size="small" look="danger" name="username" value={username}>
                  {username === account?.username ? 'Leave' : 'Remove'}
                </Button>
              </Form>
            ),
        },
      ]}
    />
  )
}
