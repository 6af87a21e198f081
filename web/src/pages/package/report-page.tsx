import type { reportReasonSchema } from '@agentgym/contract'
import type { FormFailure } from '../../app/form-failure.ts'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { Notice } from '../../components/notice.tsx'
import { packageAddress } from '../../components/package-address.ts'

const reasons: Record<(typeof reportReasonSchema.options)[number], string> = {
  malicious: 'It does harm',
  infringing: 'It is somebody else’s work',
  misleading: 'It is not what it says',
  abusive: 'It is abusive',
  spam: 'It is spam',
  other: 'Something else',
}

type ReportPageProps = {
  name: string
  /** Where the report is about a review. */
  review: string
  reason?: string
  text?: string
  failure?: FormFailure | null
  sent?: boolean
}

/** Tells the operators what is wrong with a package, or with a review of it. */
export function ReportPage({ name, review, reason, text, failure = null, sent = false }: ReportPageProps) {
  const address = packageAddress(name)
  const what = review === '' ? name : `a review of ${name}`
  return (
    <div class="package-report-form">
      <h1>Report {what}</h1>
      {sent ? (
        <>
          <Notice kind="success">The operators of this server have your report, and decide on it.</Notice>
          <p>
            <a href={address}>Back to {name}</a>
          </p>
        </>
      ) : (
        <>
          <p class="lead">The operators of this server read it. Its publisher does not learn who wrote it.</p>
          <Form action={`${address}/report`} failure={failure} fields={['reason', 'text']}>
            <input type="hidden" name="review" value={review} />
            <Field
              label="What is wrong"
              name="reason"
              options={Object.entries(reasons).map(([value, label]) => ({ value, label }))}
              value={reason}
              failure={failure}
              required
            />
            <Field
              label="How the operators can see it"
              name="text"
              rows={6}
              maxlength={5000}
              value={text}
              failure={failure}
              help="Name the version, the file, the words."
              required
            />
            <Button look="primary">Send the report</Button>
          </Form>
        </>
      )}
    </div>
  )
}
