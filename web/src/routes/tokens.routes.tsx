import type { SpendCap, TokenScope } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { invalidField, optionalFormAmount } from '../pages/market/form-amount.ts'
import { type ListedToken, TokensPage, type TokenValues } from '../pages/settings/tokens-page.tsx'

const account = { access: 'account' } as const

export const tokenRoutes = [
  route('get', '/settings/tokens', account, (visit) => showTokens(visit, {})),

  route('post', '/settings/tokens', account, async (visit) => {
    const { form } = visit
    const values: TokenValues = {
      name: form.get('name').trim(),
      days: form.get('expires_in_days').trim(),
      scopes: form.all('scopes'),
      cap: form.get('amount_minor').trim(),
      period: form.get('period'),
    }
    let made = { name: '', token: '' }
    const failure = await attempt(async () => {
      const cap = optionalFormAmount(form, 'amount_minor', visit.host.currency) ?? null
      if (values.scopes.length === 0) throw invalidField('scopes', 'tick what it may do')
      made = await makeToken(visit, values, cap)
    })
    // Not by a redirect: it stands in no address, and nowhere once this page is left.
    return showTokens(visit, failure === null ? { made } : { values, failure })
  }),

  route('post', '/settings/tokens/revoke', account, async (visit) => {
    const id = visit.form.get('id')
    const failure = await attempt(() => visit.api.DELETE('/v1/tokens/{id}', { params: { path: { id } } }))
    return failure === null || failure.status === 404
      ? visit.redirect('/settings/tokens')
      : showTokens(visit, { failure })
  }),
]

/** With its cap, or not at all: one that could not be capped is revoked before anybody has seen it. */
async function makeToken({ api }: Visit, values: TokenValues, capMinor: number | null) {
  const scopes = values.scopes as TokenScope[]
  const body = { name: values.name, scopes, expires_in_days: Number(values.days) }
  const { data } = await api.POST('/v1/tokens', { body })
  const { id, name, token } = data ?? { id: '', name: '', token: '' }
  if (capMinor === null) return { name, token }
  try {
    const period = values.period as SpendCap['period']
    await api.PUT('/v1/spend-caps', { body: { token_id: id, period, amount_minor: capMinor } })
  } catch (error) {
    await api.DELETE('/v1/tokens/{id}', { params: { path: { id } } })
    throw error
  }
  return { name, token }
}

type Shown = { values?: TokenValues; failure?: FormFailure | null; made?: { name: string; token: string } | null }

async function showTokens(visit: Visit, { values, failure = null, made = null }: Shown): Promise<Response> {
  const [tokens, caps] = await Promise.all([visit.api.GET('/v1/tokens'), visit.api.GET('/v1/spend-caps')])
  return visit.page(
    <TokensPage
      tokens={(tokens.data?.tokens ?? []) as ListedToken[]}
      caps={(caps.data?.caps ?? []) as SpendCap[]}
      values={values}
      failure={failure}
      made={made}
    />,
    { title: 'Tokens', status: failure?.status, hidden: true },
  )
}
