import type { RunEvent } from '@agentgym/contract'
import type { Child } from 'hono/jsx'
import { Icon } from '../../components/icon.tsx'
import { Notice } from '../../components/messages.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { Price } from '../../components/values.tsx'
import { withHint } from '../../format.ts'
import { usePage } from '../../layout/page-context.ts'
import { accountsOf } from '../../session/accounts.ts'
import type { PublishedAgent, ReadRun } from './read-run.ts'

type NextStepsProps = {
  read: Pick<ReadRun, 'run' | 'log' | 'published'>
  /** The visitor has just published the agent. */
  justPublished: boolean
}

/** What comes after training, and what has become of it: publish, verification, price. */
export function NextSteps({ read: { run, log, published }, justPublished }: NextStepsProps) {
  const { account } = usePage()
  if (run.agent === null) return null
  const item = run.agent.package
  const may = (role: 'member' | 'admin') => account !== null && accountsOf(account, role).includes(run.owner)
  const failed = log.findLast((event): event is PublishFailed => event.type === 'publish_failed')
  return (
    <>
      {justPublished && item !== null && (
        <Notice kind="success">
          Published as {item.name}@{item.version}. This server now checks the agent and re-runs it on held-out seeds; it
          is listed once its checks have passed.
        </Notice>
      )}
      {item === null && failed !== undefined && (
        <Notice kind="failure">Publishing failed. {withHint(failed.data.error)}</Notice>
      )}
      <ol class="next-steps" aria-label="Next steps">
        <Step title="Publish" done={item !== null}>
          {item === null ? (
            may('member') ? (
              <a href="#publish">Publish the agent</a>
            ) : (
              'Not published'
            )
          ) : (
            <a class="mono" href={packageAddress(item.name)}>
              {item.name}@{item.version}
            </a>
          )}
        </Step>
        <Step title="Verification" done={published?.verification?.state === 'verified'}>
          {item === null ? 'Starts when the agent is published' : verificationText(published)}
        </Step>
        <Step title="Price" done={published !== null && published.price_kind !== 'free'}>
          {item === null || published === null ? (
            'Set when the agent is published, or later'
          ) : (
            <>
              <Price minor={published.price_minor} currency={published.currency} kind={published.price_kind} />{' '}
              {may('admin') && <a href={`${packageAddress(item.name)}/price`}>Set price</a>}
            </>
          )}
        </Step>
      </ol>
    </>
  )
}

type PublishFailed = Extract<RunEvent, { type: 'publish_failed' }>

function Step({ title, done, children }: { title: string; done: boolean; children?: Child }) {
  return (
    <li class={done ? 'next-step next-step-done' : 'next-step'}>
      <span class="next-step-title">
        {done && <Icon name="check" size={14} label="Done" />} {title}
      </span>
      <span>{children}</span>
    </li>
  )
}

function verificationText(published: PublishedAgent | null): string {
  if (published === null) return 'The package is not available'
  const { state, verification } = published
  if (state === 'rejected') return 'The version failed its checks'
  switch (verification?.state) {
    case undefined:
      return 'Not requested'
    case 'pending':
      return state === 'checking' ? 'Checks in progress' : 'Re-running on held-out seeds'
    case 'verified':
      return 'Verified and signed'
    case 'mismatch':
      return 'Failed: the results did not match'
    case 'failed':
      return 'Failed: the agent could not be run'
    case 'unavailable':
      return 'Not possible: this server does not have the scenario'
    case 'inconclusive':
      return 'Inconclusive; it will be retried'
  }
}
