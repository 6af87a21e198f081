import { AgentGymError } from '@agentgym/contract'
import { attempt, type FormFailure } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { packagePath } from './read-package.ts'

const path = '/packages/:scope/:name/appeal'

/** The decision that is appealed: about the package, or about the visitor's review or kept episode of it. */
type About = { review: string; episode: string; version: string }

export const appealRoutes = [
  route('get', path, { access: 'account' }, (visit) =>
    showAppeal(
      visit,
      aboutFrom((name) => visit.query.get(name) ?? ''),
    ),
  ),

  route('post', path, { access: 'account' }, async (visit) => {
    const { api, form } = visit
    const about = aboutFrom((name) => form.get(name))
    const body = { text: form.get('text') }
    const failure = await attempt(() => {
      if (about.review !== '')
        return api.POST('/v1/reviews/{id}/appeals', { params: { path: { id: about.review } }, body })
      if (about.episode !== '')
        return api.POST('/v1/demonstrations/{id}/appeals', { params: { path: { id: about.episode } }, body })
      return api.POST('/v1/packages/{scope}/{name}/appeals', { params: { path: packagePath(visit) }, body })
    })
    if (failure === null) return visit.redirect(appealAddress(nameOf(visit), about))
    return showAppeal(visit, about, { text: body.text, failure })
  }),
]

function aboutFrom(read: (name: string) => string): About {
  return { review: read('review'), episode: read('episode'), version: read('version') }
}

function nameOf({ params: { scope, name } }: Visit): string {
  return `${scope}/${name}`
}

/** The page where a decision about the package, a review or an episode of it can be appealed. */
export function appealAddress(name: string, about: Partial<About> = {}): string {
  const query = new URLSearchParams(Object.entries(about).filter(([, value]) => value !== ''))
  return `${packageAddress(name)}/appeal${query.size === 0 ? '' : `?${query}`}`
}

/** What the operators decided, and the state of its appeal. */
type Decision = { at: string; reason: string; appeal?: 'open' | 'dismissed' | null }

/** To visitors whom no decision about the package concerns. */
const hidesDecision = new Set<string>(['forbidden', 'package_taken_down', 'version_not_found', 'request_invalid'])

/** Null where nothing can be appealed by the visitor. Throws `package_not_found`. */
async function readDecision(visit: Visit, { review, episode, version }: About): Promise<Decision | null> {
  const { api } = visit
  const params = { path: packagePath(visit) }
  try {
    if (review !== '') {
      const { data } = await api.GET('/v1/packages/{scope}/{name}/reviews', {
        params: { ...params, query: { limit: 1 } },
      })
      return data.own_hidden?.find(({ id }) => id === review)?.decision ?? null
    }
    if (episode !== '') {
      const { data } = await api.GET('/v1/packages/{scope}/{name}/versions/{version}/demonstrations', {
        params: { path: { ...params.path, version: version || '-' } },
      })
      return data.episodes.find(({ id }) => id === episode)?.removed ?? null
    }
    return (await api.GET('/v1/packages/{scope}/{name}/moderation', { params })).data.taken_down
  } catch (error) {
    if (error instanceof AgentGymError && hidesDecision.has(error.code)) return null
    throw error
  }
}

type Refused = { text: string; failure: FormFailure }

async function showAppeal(visit: Visit, about: About, refused: Refused | null = null): Promise<Response> {
  const decision = await readDecision(visit, about)
  const name = nameOf(visit)
  return visit.page(<AppealPage name={name} about={about} decision={decision} refused={refused} />, {
    title: `Appeal, ${name}`,
    status: refused?.failure.status,
    hidden: true,
  })
}

const answers = {
  open: 'Your appeal was sent. The operators answer with a reason, which you get as a notification.',
  dismissed: 'The appeal was dismissed. A decision can be appealed once.',
}

type AppealPageProps = { name: string; about: About; decision: Decision | null; refused: Refused | null }

function AppealPage({ name, about, decision, refused }: AppealPageProps) {
  const { review, episode } = about
  const what = review !== '' ? `your review of ${name}` : episode !== '' ? `your episode of ${name}` : name
  const done = review !== '' ? 'Hidden' : episode !== '' ? 'Removed' : 'Taken down'
  const back = <a href={packageAddress(name)}>Back to {name}</a>
  if (decision === null)
    return (
      <div class="package-report-form">
        <h1>Appeal</h1>
        <EmptyState title="Nothing to appeal">
          No decision about {what} is in force. {back}
        </EmptyState>
      </div>
    )
  const state = decision.appeal ?? null
  return (
    <div class="package-report-form">
      <h1>Appeal for {what}</h1>
      <Notice kind="warning">
        {done} by the operators on {decision.at.slice(0, 10)}
        {decision.reason === '' ? '.' : `: ${decision.reason}`}
      </Notice>
      {state !== null ? (
        <>
          <Notice kind={state === 'open' ? 'success' : 'info'}>{answers[state]}</Notice>
          <p>{back}</p>
        </>
      ) : (
        <Form action={`${packageAddress(name)}/appeal`} failure={refused?.failure} fields={['text']}>
          {Object.entries(about).map(([field, value]) => (
            <input type="hidden" name={field} value={value} />
          ))}
          <Field
            label="Why the decision is wrong"
            name="text"
            rows={6}
            maxlength={5000}
            value={refused?.text}
            failure={refused?.failure}
            help="Read by the operators. A decision can be appealed once."
            required
          />
          <Button look="primary">Send appeal</Button>
        </Form>
      )}
    </div>
  )
}
