import { AgentGymError, type HostedCall } from '@agentgym/contract'
import { attempt, type FormFailure } from '../app/form-failure.ts'
import { route } from '../app/route.ts'
import type { Visit } from '../app/visit.ts'
import { onceHeader } from '../pages/market/once-key.tsx'
import { PackageFrame } from '../pages/package/package-frame.tsx'
import { packagePath, readPackage, readVersion, type VersionView } from '../pages/package/read-package.ts'
import { NothingPublished } from '../pages/package/scenario-page.tsx'
import type { Answered } from '../pages/package/trial-answer.tsx'
import { jsonIn, trialFields, trialObservation } from '../pages/package/trial-fields.ts'
import { TrialPage, tryAddress } from '../pages/package/trial-page.tsx'

const path = '/packages/:scope/:name/try'

/** Codes of a refusal that is about a field. */
const fieldOf = { mask_invalid: 'action_mask', no_legal_action: 'action_mask', observation_invalid: 'observation' }

export const trialRoutes = [
  route('get', path, { access: 'public' }, (visit) => trialPage(visit, null)),

  route('post', path, { access: 'account' }, (visit) =>
    trialPage(visit, async (shown) => {
      const began = performance.now()
      let call: HostedCall | undefined
      const failure = await attempt(async () => {
        call = await callAgent(visit, shown)
      }, fieldOf)
      if (call !== undefined) return { failure, answered: { call, took: performance.now() - began } }
      return { failure, answered: null }
    }),
  ),
]

type Outcome = { failure: FormFailure | null; answered: Answered | null }

async function trialPage(visit: Visit, ask: ((shown: VersionView) => Promise<Outcome>) | null): Promise<Response> {
  const view = await readPackage(visit)
  const { page } = view
  if (page.kind !== 'agent') return visit.redirect(tryAddress(page.name).replace(/\/try$/, ''))
  if (page.latest === null)
    return visit.page(
      <PackageFrame view={view} tab="/try">
        <NothingPublished name={page.name} takenDown={page.taken_down !== null} member={view.member} />
      </PackageFrame>,
      { title: `Try ${page.name}`, hidden: true },
    )
  const shown = await readVersion(visit, page.latest.version)
  const { failure, answered } = ask === null ? { failure: null, answered: null } : await ask(shown)
  const fields = trialFields(shown.details.agent?.spaces.observation ?? [], shown.episode)
  return visit.page(
    <PackageFrame view={view} tab="/try">
      <TrialPage
        view={view}
        shown={shown}
        fields={fields}
        values={ask === null ? null : visit.form}
        failure={failure}
        answered={answered}
      />
    </PackageFrame>,
    {
      title: `Try ${page.title ?? page.name}`,
      status: failure?.status,
      hidden: ask !== null || page.taken_down !== null,
    },
  )
}

/**
 * Under the key of the form that was shown: loaded again, a page asks nothing twice. The same form with another observation,
 * after a step back in the browser, is another call.
 */
async function callAgent(visit: Visit, { details, episode }: VersionView): Promise<HostedCall> {
  const { api, form } = visit
  const leaves = details.agent?.spaces.observation ?? []
  const mask = form.get('action_mask').trim() === '' ? undefined : jsonIn(form, 'action_mask')
  const observation = trialObservation(leaves, trialFields(leaves, episode), form)
  const body = { version: details.version, observation, action_mask: mask }
  const ask = async (header?: ReturnType<typeof onceHeader>) => {
    const params = { path: packagePath(visit), header }
    const { data } = await api.POST('/v1/packages/{scope}/{name}/calls', { params, body })
    return data as HostedCall
  }
  try {
    return await ask(onceHeader(visit))
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'idempotency_key_reused') return ask()
    throw error
  }
}
