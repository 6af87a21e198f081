import type { Report } from '@agentgym/contract'
import type { FormFailure } from '../../app/form.ts'
import { attempt } from '../../app/form.ts'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/controls.tsx'
import { Field, Form } from '../../components/form.tsx'
import { EmptyState, Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Time } from '../../components/values.tsx'
import { OperatorFrame } from './status.tsx'

const operator = { access: 'operator' } as const

export const moderationRoutes = [
  route('get', '/operator/moderation', operator, (visit) => showModeration(visit, {})),

  route('post', '/operator/reports/:id/decision', operator, async (visit) => {
    const { id } = visit.params
    const reason = visit.form.get('reason')
    const decision = visit.form.get('decision') === 'upheld' ? ('upheld' as const) : ('dismissed' as const)
    const failure = await attempt(() =>
      visit.api.POST('/v1/reports/{id}/decision', { params: { path: { id } }, body: { decision, reason } }),
    )
    if (failure === null) return visit.redirect('/operator/moderation?done=yes')
    return showModeration(visit, { failure: { ...failure, of: id, reason } })
  }),

  route('post', '/operator/packages', operator, async (visit) => {
    const { form } = visit
    const values: ModerationValues = {
      package: form.get('package').trim(),
      reason: form.get('reason'),
      for_all: form.get('for_all') === 'yes',
      refund: form.get('refund') === 'yes',
    }
    const failure = await attempt(() => moderate(visit, values))
    if (failure === null) return visit.redirect('/operator/moderation?done=yes')
    return showModeration(visit, { values, failure: { ...failure, of: 'package', reason: values.reason } })
  }),
]

async function moderate({ api, form }: Visit, values: ModerationValues): Promise<void> {
  const [scope = '', name = ''] = values.package.split('/')
  const params = { path: { scope: scope || '-', name: name || '-' } }
  const { reason, for_all, refund } = values
  const base = '/v1/packages/{scope}/{name}' as const
  if (form.get('act') === 'restore') await api.POST(`${base}/restore`, { params, body: { reason } })
  else await api.POST(`${base}/take-down`, { params, body: { reason, for_all, refund: refund || for_all } })
}

type Shown = { values?: ModerationValues; failure?: (FormFailure & { of: string; reason: string }) | null }

async function showModeration(visit: Visit, { values, failure = null }: Shown): Promise<Response> {
  const state = reportStates.find((one) => one === visit.query.get('state')) ?? 'open'
  const query = { state, limit: 20, cursor: visit.query.get('cursor') ?? undefined }
  const { data } = await visit.api.GET('/v1/reports', { params: { query } })
  return visit.page(
    <ModerationPage
      state={state}
      reports={data.reports}
      next={data.next_cursor}
      failure={failure}
      values={values}
      done={visit.query.get('done')}
    />,
    { title: 'Moderation', status: failure?.status, hidden: true },
  )
}

const reportStates = ['open', 'upheld', 'dismissed'] as const

export type ModerationValues = { package: string; reason: string; for_all: boolean; refund: boolean }

type ModerationPageProps = {
  state: Report['state']
  reports: Report[]
  next: string | null
  /** Of the submitted report, or of the form below. */
  failure?: (FormFailure & { of: string; reason: string }) | null
  values?: ModerationValues
  done?: string | null
}

/** Reports and appeals to decide, and a form to take down or restore a package. */
function ModerationPage(props: ModerationPageProps) {
  const { state, reports, next, failure = null, values, done = null } = props
  return (
    <OperatorFrame>
      {done !== null && <Notice kind="success">Done. Recorded in the audit log.</Notice>}
      <section aria-labelledby="reports">
        <div class="section-head">
          <h2 id="reports">Reports and appeals</h2>
        </div>
        <nav class="settings-row" aria-label="State of reports">
          {reportStates.map((one) => (
            <a href={`/operator/moderation?state=${one}`} aria-current={one === state ? 'page' : undefined}>
              {one}
            </a>
          ))}
        </nav>
        {reports.length === 0 ? (
          <EmptyState title={state === 'open' ? 'No open reports' : `No ${state} reports`}>
            <p>Reports of packages and reviews appear here.</p>
          </EmptyState>
        ) : (
          <div class="reports">
            {reports.map((report) => (
              <ReportItem report={report} failure={failure?.of === report.id ? failure : null} />
            ))}
          </div>
        )}
        {next !== null && (
          <a href={`/operator/moderation?${new URLSearchParams({ state, cursor: next })}`}>More reports</a>
        )}
      </section>
      <section aria-labelledby="take-down">
        <h2 id="take-down">Take down or restore a package</h2>
        <PackageForm values={values} failure={failure?.of === 'package' ? failure : null} />
      </section>
    </OperatorFrame>
  )
}

function ReportItem({ report, failure }: { report: Report; failure: (FormFailure & { reason: string }) | null }) {
  const { decision } = report
  return (
    <article class="report">
      <div class="settings-row">
        <Badge tone={report.reason === 'malicious' ? 'bad' : 'plain'}>{report.reason}</Badge>
        <h3>
          <a href={packageAddress(report.package)}>{report.package}</a>
        </h3>
      </div>
      <p class="report-facts">
        <span>
          {reportedAs(report)} by <a href={`/@${report.by}`}>{report.by}</a>
        </span>
        <Time at={report.created_at} />
      </p>
      {report.appealed_reason && <p class="dim">Reason of the decision: {report.appealed_reason}</p>}
      <p class="report-text">{report.text}</p>
      {decision === null ? (
        <Form action={`/operator/reports/${report.id}/decision`} failure={failure} fields={['reason']}>
          <div class={failure?.fields.reason === undefined ? 'field' : 'field field-wrong'}>
            <label>
              Reason (sent to the owner and the reporter)
              <textarea name="reason" rows={2} required maxlength={2_000}>
                {failure?.reason}
              </textarea>
            </label>
            {failure?.fields.reason !== undefined && <p class="field-message">{failure.fields.reason}</p>}
          </div>
          <div class="settings-row">
            <Button look="danger" name="decision" value="upheld">
              {report.reason === 'appeal' ? 'Restore' : report.review !== null ? 'Hide review' : 'Take down'}
            </Button>
            <Button name="decision" value="dismissed">
              Dismiss
            </Button>
          </div>
        </Form>
      ) : (
        <p class="report-facts">
          <Badge tone={report.state === 'upheld' ? 'warning' : 'plain'}>{report.state}</Badge>
          <span>
            by {decision.by}, <Time at={decision.at} />
          </span>
          <span>{decision.reason}</span>
        </p>
      )}
    </article>
  )
}

function reportedAs({ reason, review, demonstration }: Report): string {
  const what = review !== null ? 'review ' : demonstration ? 'episode ' : ''
  return `${what}${reason === 'appeal' ? 'appealed' : 'reported'}`
}

function PackageForm({ values, failure }: { values?: ModerationValues; failure: FormFailure | null }) {
  return (
    <Form action="/operator/packages" failure={failure} fields={['package', 'reason']}>
      <Field label="Package" name="package" required value={values?.package} help="@scope/name" failure={failure} />
      <Field
        label="Reason"
        name="reason"
        required
        rows={3}
        maxlength={2_000}
        value={values?.reason}
        help="Sent to the owner and shown on the package page."
        failure={failure}
      />
      <fieldset class="scope-boxes">
        <legend>Take-down options</legend>
        <label>
          <input type="checkbox" name="refund" value="yes" checked={values?.refund ?? false} />
          <span>Refund buyers of the last 30 days</span>
        </label>
        <label>
          <input type="checkbox" name="for_all" value="yes" checked={values?.for_all ?? false} />
          <span>Malicious: block downloads for buyers too, and refund them</span>
        </label>
      </fieldset>
      <div class="settings-row">
        <Button look="danger" name="act" value="take-down">
          Take down
        </Button>
        <Button name="act" value="restore">
          Restore
        </Button>
      </div>
    </Form>
  )
}
