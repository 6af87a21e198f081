import type { InvitationList, OwnAccount } from '@agentgym/contract'
import type { FormFailure } from '../../app/form.ts'
import { attempt } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { withHint } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { SettingsFrame } from './settings-frame.tsx'

const account = { access: 'account' } as const
const organizationPath = '/settings/organisations/:organisation'
const ofOrganization = { access: 'member', of: 'organisation' } as const

export const organizationRoutes = [
  route('get', '/settings/organisations', account, (visit) => showOrganizations(visit)),

  route('post', '/settings/organisations', account, async (visit) => {
    const values = { username: visit.form.get('username').trim(), display_name: visit.form.get('display_name').trim() }
    const body = { username: values.username, display_name: values.display_name || undefined }
    const failure = await attempt(() => visit.api.POST('/v1/organisations', { body }))
    if (failure === null) return visit.redirect(`/settings/organisations/${values.username}`)
    return showOrganizations(visit, { values, failure })
  }),

  route('post', '/settings/invitations', account, async (visit) => {
    const path = { organisation: visit.form.get('organisation') || '-' }
    const role = visit.form.get('role') as Role
    const accepts = visit.form.get('answer') === 'accept'
    const failure = await attempt(() =>
      accepts
        ? visit.api.PUT('/v1/invitations/{organisation}', { params: { path }, body: { role } })
        : visit.api.DELETE('/v1/invitations/{organisation}', { params: { path } }),
    )
    if (failure !== null) return showOrganizations(visit, { refused: failure })
    return visit.redirect(accepts ? `/settings/organisations/${path.organisation}` : '/settings/organisations')
  }),

  route('get', organizationPath, ofOrganization, (visit) => showOrganization(visit)),

  route('post', `${organizationPath}/members`, ofOrganization, async (visit) => {
    const values = { username: visit.form.get('username').trim(), role: visit.form.get('role') }
    const path = { organisation: visit.params.organisation, username: values.username || '-' }
    const role = values.role as NonNullable<Organisation['members']>[number]['role']
    const failure = await attempt(() =>
      visit.api.PUT('/v1/organisations/{organisation}/members/{username}', { params: { path }, body: { role } }),
    )
    return afterMember(visit, failure, values)
  }),

  route('post', `${organizationPath}/members/remove`, ofOrganization, async (visit) => {
    const path = { organisation: visit.params.organisation, username: visit.form.get('username') || '-' }
    const failure = await attempt(() =>
      visit.api.DELETE('/v1/organisations/{organisation}/members/{username}', { params: { path } }),
    )
    const left = failure === null && path.username === visit.account?.username
    return left ? visit.redirect('/settings/organisations') : afterMember(visit, failure)
  }),
]

type OrganizationsShown = {
  values?: { username: string; display_name: string }
  failure?: FormFailure | null
  /** Why accepting or declining an invitation failed. */
  refused?: FormFailure | null
}

async function showOrganizations(
  visit: Visit,
  { values, failure = null, refused = null }: OrganizationsShown = {},
): Promise<Response> {
  const { data } = await visit.api.GET('/v1/invitations')
  const shown = { organisations: visit.account?.organisations ?? [], invitations: data.invitations }
  return visit.page(<OrganizationsPage {...shown} values={values} failure={failure} refused={refused} />, {
    title: 'Organizations',
    // The page exists even if the invitation does not.
    status: refused === null ? failure?.status : 422,
    hidden: true,
  })
}

type MemberValues = { username: string; role: string }

function afterMember(visit: Visit, failure: FormFailure | null, values?: MemberValues) {
  if (failure === null) return visit.redirect(`/settings/organisations/${visit.params.organisation}`)
  return showOrganization(visit, values, failure)
}

async function showOrganization(visit: Visit, values?: MemberValues, failure: FormFailure | null = null) {
  const path = { organisation: visit.params.organisation }
  const { data } = await visit.api.GET('/v1/organisations/{organisation}', { params: { path } })
  const organisation = data
  return visit.page(<OrganizationPage organisation={organisation} values={values} failure={failure} />, {
    title: organisation.display_name ?? organisation.username,
    // Missing permissions are shown at the submitted form.
    status: failure?.status === 403 ? 422 : failure?.status,
    hidden: true,
  })
}

type Invitation = InvitationList['invitations'][number]
type OrganizationsPageProps = {
  organisations: OwnAccount['organisations']
  invitations: Invitation[]
  refused: FormFailure | null
  values?: { username: string; display_name: string }
  failure?: FormFailure | null
}

/** The visitor's organizations, and the form to create one. */
function OrganizationsPage({ organisations, invitations, values, failure = null, refused }: OrganizationsPageProps) {
  return (
    <SettingsFrame>
      {refused !== null && <Notice kind="failure">{withHint(refused)}</Notice>}
      {invitations.length > 0 && <Invitations invitations={invitations} />}
      <section aria-labelledby="organisations">
        <h2 id="organisations">Organizations</h2>
        {organisations.length === 0 ? (
          <EmptyState title="No organizations yet">
            <p>Organizations share packages, runs and a balance. Each has its own scope and members with roles.</p>
          </EmptyState>
        ) : (
          <Table
            caption="Organizations and your roles"
            rows={organisations}
            columns={[
              {
                title: 'Organization',
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
        <h2 id="new-organisation">Create organization</h2>
        <Form action="/settings/organisations" failure={failure} fields={['username', 'display_name']}>
          <Field
            label="Name"
            name="username"
            required
            value={values?.username}
            help="Used as the scope: @name/package. Can't be changed."
            failure={failure}
          />
          <Field
            label="Display name"
            name="display_name"
            maxlength={80}
            value={values?.display_name}
            failure={failure}
          />
          <Button look="primary">Create organization</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}

/** Invitations to accept or decline. */
function Invitations({ invitations }: { invitations: Invitation[] }) {
  return (
    <section aria-labelledby="invitations">
      <h2 id="invitations">Invitations</h2>
      <Table
        caption="Open invitations"
        rows={invitations}
        columns={[
          {
            title: 'Organization',
            heading: true,
            cell: ({ organisation, display_name }) => (
              <a href={`/@${organisation}`}>
                {display_name === null ? organisation : `${display_name} (${organisation})`}
              </a>
            ),
          },
          { title: 'Role', cell: ({ role }) => <Badge>{role}</Badge> },
          { title: 'From', cell: ({ invited_by }) => <a href={`/@${invited_by}`}>{invited_by}</a> },
          { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} />, wide: true },
          {
            title: 'Action',
            cell: ({ organisation, role }) => (
              <Form action="/settings/invitations" look="inline" label={`Invitation to ${organisation}`}>
                <input type="hidden" name="organisation" value={organisation} />
                <input type="hidden" name="role" value={role} />
                <Button size="small" look="primary" name="answer" value="accept">
                  Accept
                </Button>
                <Button size="small" name="answer" value="decline">
                  Decline
                </Button>
              </Form>
            ),
          },
        ]}
      />
    </section>
  )
}

type Role = OwnAccount['organisations'][number]['role']
export type Organisation = {
  username: string
  display_name: string | null
  members?: { username: string; role: Role }[]
  invitations?: { username: string; role: Role; invited_by: string; expires_at: string }[]
}

type OrganizationPageProps = {
  organisation: Organisation
  values?: { username: string; role: string }
  failure?: FormFailure | null
}

const roles: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'Viewer: can view private packages and runs' },
  { value: 'member', label: 'Member: can publish and train' },
  { value: 'admin', label: 'Admin: can manage packages and members' },
  { value: 'owner', label: 'Owner: full access' },
]

/** Members of an organization and their roles. */
function OrganizationPage({ organisation, values, failure = null }: OrganizationPageProps) {
  const { account } = usePage()
  const { username, display_name, members = [], invitations = [] } = organisation
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
        {manages && (
          <p>
            <a href={`/settings/organisations/${username}/sign-on`}>Single sign-on</a>
          </p>
        )}
      </section>
      {invitations.length > 0 && (
        <section aria-labelledby="invited">
          <h2 id="invited">Invited</h2>
          <MemberTable organisation={username} members={invitations} manages={manages} caption="Open invitations" />
        </section>
      )}
      {manages && (
        <section aria-labelledby="add">
          <h2 id="add">Invite or change a member</h2>
          <p class="lead">Users join once they accept the invitation.</p>
          <Form action={`/settings/organisations/${username}/members`} failure={failure} fields={['username', 'role']}>
            <Field label="Username" name="username" required value={values?.username} failure={failure} />
            <Field
              label="Role"
              name="role"
              required
              value={values?.role ?? 'member'}
              options={roles}
              help="Only owners can grant or remove the owner role."
              failure={failure}
            />
            <Button look="primary">Save</Button>
          </Form>
        </section>
      )}
    </SettingsFrame>
  )
}

type MemberTableProps = {
  organisation: string
  members: { username: string; role: Role }[]
  manages: boolean
  /** Default: Members. */
  caption?: string
}

function MemberTable({ organisation, members, manages, caption = 'Members' }: MemberTableProps) {
  const { account } = usePage()
  return (
    <Table
      caption={caption}
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
