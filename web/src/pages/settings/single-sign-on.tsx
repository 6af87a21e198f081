import type { SignOn } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState } from '../../components/messages.tsx'
import { Table } from '../../components/table.tsx'
import { SettingsFrame } from './settings-frame.tsx'

const page = '/settings/organisations/:organisation/sign-on'
const ofOrganization = { access: 'owner', of: 'organisation' } as const
const api = '/v1/organisations/{organisation}/sign-on'

export const singleSignOnRoutes = [
  route('get', page, ofOrganization, (visit) => showSignOn(visit)),

  route('post', page, ofOrganization, async (visit) => {
    const field = (name: string) => visit.form.get(name).trim()
    const body = {
      ...{ issuer: field('issuer'), client_id: field('client_id'), client_secret: field('client_secret') },
      default_role: field('default_role') as 'admin' | 'member' | 'viewer',
    }
    return after(visit, await attempt(() => visit.api.PUT(api, { params: { path: pathOf(visit) }, body })))
  }),

  route('post', `${page}/remove`, ofOrganization, async (visit) =>
    after(visit, await attempt(() => visit.api.DELETE(api, { params: { path: pathOf(visit) } }))),
  ),

  route('post', `${page}/domains`, ofOrganization, async (visit) => {
    const body = { domain: visit.form.get('domain').trim() }
    return after(
      visit,
      await attempt(() => visit.api.POST(`${api}/domains`, { params: { path: pathOf(visit) }, body })),
    )
  }),

  route('post', `${page}/domains/verify`, ofOrganization, async (visit) => {
    const path = { ...pathOf(visit), domain: visit.form.get('domain') }
    return after(visit, await attempt(() => visit.api.POST(`${api}/domains/{domain}/verify`, { params: { path } })))
  }),

  route('post', `${page}/domains/remove`, ofOrganization, async (visit) => {
    const path = { ...pathOf(visit), domain: visit.form.get('domain') }
    return after(visit, await attempt(() => visit.api.DELETE(`${api}/domains/{domain}`, { params: { path } })))
  }),
]

const pathOf = (visit: Visit) => ({ organisation: visit.params.organisation })

function after(visit: Visit, failure: FormFailure | null) {
  if (failure === null) return visit.redirect(`/settings/organisations/${visit.params.organisation}/sign-on`)
  return showSignOn(visit, failure)
}

async function showSignOn(visit: Visit, failure: FormFailure | null = null) {
  const { organisation } = visit.params
  const { data } = await visit.api.GET(api, { params: { path: pathOf(visit) } })
  return visit.page(<SignOnPage organisation={organisation} signOn={data} failure={failure} />, {
    title: `Single sign-on of ${organisation}`,
    // Missing permissions are shown at the submitted form.
    status: failure?.status === 403 ? 422 : failure?.status,
    hidden: true,
  })
}

const roles = [
  { value: 'viewer', label: 'Viewer: can view private packages and runs' },
  { value: 'member', label: 'Member: can publish and train' },
  { value: 'admin', label: 'Admin: can manage packages and members' },
]

type SignOnPageProps = { organisation: string; signOn: SignOn; failure: FormFailure | null }

/** An organization's OpenID provider and domains. */
function SignOnPage({ organisation, signOn, failure }: SignOnPageProps) {
  const { provider, domains, redirect_uri } = signOn
  const action = `/settings/organisations/${organisation}/sign-on`
  return (
    <SettingsFrame>
      <section aria-labelledby="sign-on">
        <h2 id="sign-on">Single sign-on</h2>
        <p>
          Members of <a href={`/settings/organisations/${organisation}`}>{organisation}</a> log in through its OpenID
          Connect provider. People who log in for the first time get an account and the default role. Register this
          redirect URI at the provider: <code>{redirect_uri}</code>
        </p>
        <Form action={action} failure={failure} fields={['issuer', 'client_id', 'client_secret', 'default_role']}>
          <Field
            label="Issuer"
            name="issuer"
            type="url"
            required
            value={provider?.issuer}
            help="Such as https://example.okta.com"
            failure={failure}
          />
          <Field label="Client ID" name="client_id" required value={provider?.client_id} failure={failure} />
          <Field
            label="Client secret"
            name="client_secret"
            type="password"
            required
            autocomplete="off"
            help="Stored encrypted and never shown. Enter it again to change the other fields."
            failure={failure}
          />
          <Field
            label="Default role"
            name="default_role"
            required
            value={provider?.default_role ?? 'member'}
            options={roles}
            failure={failure}
          />
          <Button look="primary">Save provider</Button>
        </Form>
        {provider !== null && (
          <Form action={`${action}/remove`} look="inline" label="Provider">
            <Button size="small" look="danger">
              Remove provider
            </Button>
          </Form>
        )}
      </section>
      <section aria-labelledby="domains">
        <h2 id="domains">Domains</h2>
        {domains.length === 0 ? (
          <EmptyState title="No domains yet">
            <p>Only email addresses of your verified domains can log in. Add a domain, then the TXT record it shows.</p>
          </EmptyState>
        ) : (
          <DomainTable domains={domains} action={action} />
        )}
        <Form action={`${action}/domains`} failure={null}>
          <Field label="Domain" name="domain" required help="Such as example.com" failure={null} />
          <Button>Add domain</Button>
        </Form>
      </section>
    </SettingsFrame>
  )
}

function DomainTable({ domains, action }: { domains: SignOn['domains']; action: string }) {
  return (
    <Table
      caption="Domains"
      rows={domains}
      columns={[
        { title: 'Domain', heading: true, cell: ({ domain }) => domain },
        {
          title: 'State',
          cell: ({ verified }) =>
            verified ? <Badge tone="good">verified</Badge> : <Badge tone="warning">not verified</Badge>,
        },
        {
          title: 'TXT record',
          cell: ({ record }) => (
            <>
              <code>{record.name}</code> <code>{record.value}</code>
            </>
          ),
        },
        {
          title: 'Action',
          cell: ({ domain, verified }) => (
            <>
              {!verified && (
                <Form action={`${action}/domains/verify`} look="inline" label={`Verify ${domain}`}>
                  <Button size="small" name="domain" value={domain}>
                    Verify
                  </Button>
                </Form>
              )}
              <Form action={`${action}/domains/remove`} look="inline" label={`Remove ${domain}`}>
                <Button size="small" look="danger" name="domain" value={domain}>
                  Remove
                </Button>
              </Form>
            </>
          ),
        },
      ]}
    />
  )
}
