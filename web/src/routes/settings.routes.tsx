import assert from 'node:assert/strict'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { AccountPage } from '../pages/settings/account-page.tsx'
import { type Organisation, OrganisationPage } from '../pages/settings/organisation-page.tsx'
import { OrganisationsPage } from '../pages/settings/organisations-page.tsx'
import { SessionsPage } from '../pages/settings/sessions-page.tsx'

const account = { access: 'account' } as const
const organisationPath = '/settings/organisations/:organisation'
const ofOrganisation = { access: 'member', of: 'organisation' } as const

export const settingsRoutes = [
  route('get', '/settings', account, (visit) => visit.redirect('/settings/account')),

  route('get', '/settings/account', account, (visit) => showAccount(visit, { done: visit.query.get('done') })),

  route('post', '/settings/account/password', account, async (visit) => {
    const { api, form } = visit
    const body = { current_password: form.get('current_password'), password: form.get('password') }
    const failure = await attempt(() => api.PUT('/v1/account/password', { body }))
    if (failure === null) return visit.redirect('/settings/account?done=password')
    return showAccount(visit, { failure })
  }),

  route('post', '/settings/account/verification-mail', account, async (visit) => {
    const failure = await attempt(() => visit.api.POST('/v1/account/verification-mail'))
    return failure === null ? visit.redirect('/settings/account?done=mail') : showAccount(visit, { failure })
  }),

  route('get', '/settings/sessions', account, async (visit) => {
    const { data } = await visit.api.GET('/v1/sessions')
    return visit.page(<SessionsPage sessions={data?.sessions ?? []} />, { title: 'Sessions', hidden: true })
  }),

  route('post', '/settings/sessions', account, async (visit) => {
    const wanted = visit.form.get('id')
    const { data } = await visit.api.GET('/v1/sessions')
    const ended = (data?.sessions ?? []).filter(({ id, current }) => (wanted === 'others' ? !current : id === wanted))
    for (const { id } of ended) await visit.api.DELETE('/v1/sessions/{id}', { params: { path: { id } } })
    return visit.redirect('/settings/sessions')
  }),

  route('get', '/settings/organisations', account, (visit) => showOrganisations(visit)),

  route('post', '/settings/organisations', account, async (visit) => {
    const values = { username: visit.form.get('username').trim(), display_name: visit.form.get('display_name').trim() }
    const body = { username: values.username, display_name: values.display_name || undefined }
    const failure = await attempt(() => visit.api.POST('/v1/organisations', { body }))
    if (failure === null) return visit.redirect(`/settings/organisations/${values.username}`)
    return showOrganisations(visit, { values, failure })
  }),

  route('get', organisationPath, ofOrganisation, (visit) => showOrganisation(visit)),

  route('post', `${organisationPath}/members`, ofOrganisation, async (visit) => {
    const values = { username: visit.form.get('username').trim(), role: visit.form.get('role') }
    const path = { organisation: visit.params.organisation, username: values.username || '-' }
    const role = values.role as NonNullable<Organisation['members']>[number]['role']
    const failure = await attempt(() =>
      visit.api.PUT('/v1/organisations/{organisation}/members/{username}', { params: { path }, body: { role } }),
    )
    return afterMember(visit, failure, values)
  }),

  route('post', `${organisationPath}/members/remove`, ofOrganisation, async (visit) => {
    const path = { organisation: visit.params.organisation, username: visit.form.get('username') || '-' }
    const failure = await attempt(() =>
      visit.api.DELETE('/v1/organisations/{organisation}/members/{username}', { params: { path } }),
    )
    const left = failure === null && path.username === visit.account?.username
    return left ? visit.redirect('/settings/organisations') : afterMember(visit, failure)
  }),
]

type Shown = { failure?: FormFailure | null; done?: string | null }

function showAccount(visit: Visit, { failure = null, done = null }: Shown): Response {
  assert(visit.account !== null, 'a page for accounts without one')
  return visit.page(<AccountPage account={visit.account} failure={failure} done={done} />, {
    title: 'Account',
    status: failure?.status,
    hidden: true,
  })
}

type OrganisationsShown = { values?: { username: string; display_name: string }; failure?: FormFailure | null }

function showOrganisations(visit: Visit, { values, failure = null }: OrganisationsShown = {}): Response {
  return visit.page(
    <OrganisationsPage organisations={visit.account?.organisations ?? []} values={values} failure={failure} />,
    { title: 'Organisations', status: failure?.status, hidden: true },
  )
}

type MemberValues = { username: string; role: string }

function afterMember(visit: Visit, failure: FormFailure | null, values?: MemberValues) {
  if (failure === null) return visit.redirect(`/settings/organisations/${visit.params.organisation}`)
  return showOrganisation(visit, values, failure)
}

async function showOrganisation(visit: Visit, values?: MemberValues, failure: FormFailure | null = null) {
  const path = { organisation: visit.params.organisation }
  const { data } = await visit.api.GET('/v1/organisations/{organisation}', { params: { path } })
  const organisation = data as Organisation
  return visit.page(<OrganisationPage organisation={organisation} values={values} failure={failure} />, {
    title: organisation.display_name ?? organisation.username,
    // What a member may not do is refused beside the form that they sent.
    status: failure?.status === 403 ? 422 : failure?.status,
    hidden: true,
  })
}
