import {
  type Comparison,
  type Evaluation,
  isFixedTaskSet,
  type VerificationStatement,
  type VersionDetails,
  verificationStatementSchema,
} from '@agentgym/contract'
import { criterionTexts, formatMetric } from '@agentgym/contract/metrics'
import { Seal } from '../../components/badge.tsx'
import { ComparedTable } from '../../components/compared-table.tsx'
import { Command } from '../../components/controls.tsx'
import { LevelTable } from '../../components/level-table.tsx'
import { Notice } from '../../components/messages.tsx'
import { Detail, Metric, Metrics } from '../../components/metrics.tsx'
import { Outcome } from '../../components/outcome.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { CalibrationPart } from './calibration.tsx'

/** Result of re-running an agent on held-out seeds, with its signed statement; or why there is none. */
export function EvaluationSection({ details }: { details: VersionDetails }) {
  const { verification, agent } = details
  const statement = statementOf(verification?.signed?.statement)
  const signature = verification?.signed?.signature
  return (
    <section class="package-section" aria-labelledby="evaluation">
      <header class="section-head">
        <h2 id="evaluation">Evaluation</h2>
        {signature !== undefined && <Seal signature={signature} href="#evaluation" />}
      </header>
      {statement === null || signature === undefined ? (
        <Unverified details={details} claim={agent?.evaluation ?? null} comparison={agent?.comparison} />
      ) : (
        <Verified statement={statement} signature={signature} comparison={agent?.comparison} />
      )}
      <p class="package-label">Verify on your machine</p>
      <Command text={`agentgym agent verify ${details.name}@${details.version}`} />
    </section>
  )
}

type VerifiedProps = { statement: VerificationStatement; signature: string; comparison: Comparison | undefined }

function Verified({ statement, signature, comparison }: VerifiedProps) {
  const { held_out: heldOut, claim, scenario } = statement
  return (
    <>
      <p class="outcome-line">
        <Outcome success={heldOut.success} returnMean={heldOut.return_mean} />
      </p>
      <Metrics>
        <Return evaluation={heldOut} label="Mean return (held-out)" />
        <Metric label="Mean length" note="steps per episode">
          {formatMetric(heldOut.length_mean)}
        </Metric>
      </Metrics>
      <Criteria evaluation={heldOut} />
      <LevelTable evaluation={heldOut} />
      <FixedTasks tasks={heldOut.tasks} />
      <ComparedTable evaluation={heldOut} comparison={comparison} />
      <CalibrationPart evaluation={heldOut} />
      <details class="package-signed">
        <summary class="package-more">Verification details</summary>
        <dl class="package-facts">
          <Detail label="Verified by">{statement.server}</Detail>
          <Detail label="Verified">
            <Time at={statement.verified_at} />
          </Detail>
          <Detail label="Scenario">
            <a href={`${packageAddress(scenario.name)}/v/${scenario.version}`}>
              <code>
                {scenario.name}@{scenario.version}
              </code>
            </a>
          </Detail>
          <Detail label="Held out">
            {heldOut.episodes} episodes,{' '}
            {heldOut.seed === null ? (
              <Season statement={statement} />
            ) : (
              <>
                seed <code>{heldOut.seed}</code>
              </>
            )}
          </Detail>
          <Detail label="Claim">
            {claim.episodes} episodes, seed <code>{claim.seed}</code>, reproduced bit for bit
          </Detail>
          <TaskSet statement={statement} />
          <Workers statement={statement} />
          <Detail label="Trajectories">
            <code>{heldOut.trajectory_hash}</code>
          </Detail>
          <Detail label="Model">
            <code>{statement.agent.model_hash}</code>
          </Detail>
          <Detail label="Signature">
            <code>{signature}</code>
          </Detail>
          <Detail label="Key">
            <a href="/v1/keys">
              <code>{statement.key_id}</code>
            </a>
          </Detail>
        </dl>
      </details>
    </>
  )
}

/** The season of the held-out episodes, whose secret reveals their seed once it has ended. */
function Season({ statement }: { statement: VerificationStatement }) {
  if (statement.type === 'agentgym-verification-1' || statement.season === null) return <>secret seed</>
  return (
    <>
      the same for all agents in <a href="/v1/seasons">season {statement.season.id}</a>; the seed is secret until the
      season ends
    </>
  )
}

/** Shows the number of tasks, because a small set can be memorized. */
function TaskSet({ statement }: { statement: VerificationStatement }) {
  if (statement.type === 'agentgym-verification-1' || statement.task_set === null) return null
  const { size, fixed, split } = statement.task_set
  const count = size.toLocaleString('en')
  return (
    <Detail label="Tasks">
      {fixed ? `fixed set of ${count}, public` : `drawn from ${count}`}
      {split === 'train' && ', the same as for training'}
    </Detail>
  )
}

/** The workers that agreed, with the runtime that determines the last bits. */
function Workers({ statement }: { statement: VerificationStatement }) {
  const workers = statement.type === 'agentgym-verification-1' ? [] : statement.workers
  if (workers.length === 0) return null
  return (
    <Detail label={workers.length === 1 ? 'Worker' : 'Workers'}>
      {workers.map(({ id, owner, runtime }) => (
        <div>
          <code>{id.slice(0, 8)}</code> {owner === null ? 'of this server' : `of ${owner}`}
          {runtime.arch !== undefined && `, ${runtime.arch} ${runtime.instructions ?? ''}`}
        </div>
      ))}
    </Detail>
  )
}

type UnverifiedProps = { details: VersionDetails; claim: Evaluation | null; comparison: Comparison | undefined }

function Unverified({ details: { verification }, claim, comparison }: UnverifiedProps) {
  const why = verification?.message === null || verification === null ? '' : ` ${verification.message}`
  return (
    <>
      {verification === null || verification.state === 'unavailable' ? (
        <Notice kind="info">Not verified. Results are the publisher’s own.{why}</Notice>
      ) : verification.state === 'pending' ? (
        <Notice kind="info">Verification in progress.</Notice>
      ) : verification.state === 'inconclusive' ? (
        <Notice kind="info">Verification was inconclusive and will be retried.{why}</Notice>
      ) : (
        <Notice kind="failure">
          {verification.state === 'mismatch'
            ? 'Verification failed: the results did not match the publisher’s claim.'
            : 'Verification failed: the agent could not be run.'}
          {why}
        </Notice>
      )}
      {claim !== null && (
        <>
          <p class="outcome-line">
            <Outcome success={claim.success} returnMean={claim.return_mean} />
          </p>
          <Metrics>
            <Return evaluation={claim} label="Mean return (claimed)" />
          </Metrics>
          <Criteria evaluation={claim} />
          <LevelTable evaluation={claim} />
          <FixedTasks tasks={claim.tasks} />
          <ComparedTable evaluation={claim} comparison={comparison} />
          <CalibrationPart evaluation={claim} />
        </>
      )}
    </>
  )
}

/** A notice if the tasks of an evaluation can be memorized. */
function FixedTasks({ tasks }: Pick<Evaluation, 'tasks'>) {
  if (tasks === undefined || !isFixedTaskSet(tasks)) return null
  const { size, split } = tasks
  return (
    <p class="package-baseline">
      <span class="package-label">Evaluation tasks</span> Fixed set of {size.toLocaleString('en')}, public
      {split === 'train' && '; the agent may have been trained on them'}.
    </p>
  )
}

function Return({
  evaluation: { return_mean, return_std, episodes },
  label,
}: {
  evaluation: Pick<Evaluation, 'return_mean' | 'return_std' | 'episodes'>
  label: string
}) {
  return (
    <Metric
      label={label}
      note={`${return_std === null ? '' : `± ${formatMetric(return_std)} over `}${episodes} episodes`}
    >
      {formatMetric(return_mean)}
    </Metric>
  )
}

type Criterion = Evaluation['success']['criteria'][number]
const columns: Column<Criterion>[] = [
  { title: 'Metric', heading: true, cell: ({ metric }) => <code>{metric}</code> },
  { title: 'Target', numeric: true, cell: (criterion) => criterionTexts(criterion).target },
  { title: 'Result', numeric: true, cell: (criterion) => criterionTexts(criterion).value },
  { title: 'Met', cell: ({ ok }) => (ok ? 'yes' : 'no') },
]

function Criteria({ evaluation: { success } }: { evaluation: Pick<Evaluation, 'success'> }) {
  if (success.criteria.length === 0) return null
  return <Table rows={success.criteria} columns={columns} caption="Success criteria and results" />
}

/** The signed statement; null if it is invalid. */
function statementOf(text: string | undefined): VerificationStatement | null {
  if (text === undefined) return null
  try {
    return verificationStatementSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
