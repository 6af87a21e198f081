import type { reportReasonSchema } from '@agentgym/contract'
import type { FormFailure } from '../../app/form.ts'
import { attempt } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { readPackage } from './read-package.ts'

export const reportRoutes = [
  route('get', '/packages/:scope/:name/report', { access: 'account' }, async (visit) => {
    const { page } = await readPackage(visit)
    const { query } = visit
    const body = <ReportPage name={page.name} review={query.get('review') ?? ''} sent={query.get('sent') === '1'} />
    return visit.page(body, { title: `Report ${page.name}`, hidden: true })
  }),

  route('post', '/packages/:scope/:name/report', { access: 'account' }, async (visit) => {
    const { page } = await readPackage(visit)
    const { api, form } = visit
    const [reason, text, review] = [form.get('reason'), form.get('text'), form.get('review')]
    const failure = await attempt(() =>
      api.POST('/v1/reports', {
        // The API rejects invalid reasons.
        body: { package: page.name, reason: reason as 'other', text, ...(review === '' ? {} : { review }) },
      }),
    )
    if (failure === null) return visit.redirect(`${packageAddress(page.name)}/report?sent=1`)
    const body = <ReportPage name={page.name} review={review} reason={reason} text={text} failure={failure} />
    return visit.page(body, { title: `Report ${page.name}`, hidden: true, status: failure.status })
  }),
]

const reasons: Record<(typeof reportReasonSchema.options)[number], string> = {
  malicious: 'Malicious',
  infringing: 'Copyright or trademark infringement',
  misleading: 'Misleading',
  abusive: 'Abusive',
  spam: 'Spam',
  other: 'Other',
}

type ReportPageProps = {
  name: string
  /** The reported review, if any. */
  review: string
  reason?: string
  text?: string
  failure?: FormFailure | null
  sent?: boolean
}

/** Reports a package, or a review of it, to the operators. */
function ReportPage({ name, review, reason, text, failure = null, sent = false }: ReportPageProps) {
  const address = packageAddress(name)
  const what = review === '' ? name : `a review of ${name}`
  return (
    <div class="package-report-form">
      <h1>Report {what}</h1>
      {sent ? (
        <>
          <Notice kind="success">Report sent. The operators of this server will review it.</Notice>
          <p>
            <a href={address}>Back to {name}</a>
          </p>
        </>
      ) : (
        <>
          <p class="lead">Reports go to the operators of this server. The publisher won't see your name.</p>
          <Form action={`${address}/report`} failure={failure} fields={['reason', 'text']}>
            <input type="hidden" name="review" value={review} />
            <Field
              label="Reason"
              name="reason"
              options={Object.entries(reasons).map(([value, label]) => ({ value, label }))}
              value={reason}
              failure={failure}
              required
            />
            <Field
              label="Description"
              name="text"
              rows={6}
              maxlength={5000}
              value={text}
              failure={failure}
              help="Name the version, file or text concerned."
              required
            />
            <Button look="primary">Send report</Button>
          </Form>
        </>
      )}
    </div>
  )
}
