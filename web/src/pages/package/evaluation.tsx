import {
  type Evaluation,
  type VerificationStatement,
  type VersionDetails,
  verificationStatementSchema,
} from '@agentgym/contract'
import { formatValue } from '@agentgym/contract/charts'
import { Seal } from '../../components/badge.tsx'
import { Command } from '../../components/controls.tsx'
import { Notice } from '../../components/messages.tsx'
import { Figure, Figures } from '../../components/metrics.tsx'
import { packageAddress } from '../../components/package-list.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/values.tsx'
import { Fact } from './package-frame.tsx'

/** What came out when the server ran an agent again, by whom, when and on which seeds; or why it has not. */
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
        <Unverified details={details} claim={agent?.evaluation ?? null} />
      ) : (
        <Verified statement={statement} signature={signature} />
      )}
      <p class="package-label">Run it again on your machine</p>
      <Command text={`agentgym agent verify ${details.name}@${details.version}`} />
    </section>
  )
}

function Verified({ statement, signature }: { statement: VerificationStatement; signature: string }) {
  const { held_out: heldOut, claim, scenario } = statement
  return (
    <>
      <Figures>
        <Return evaluation={heldOut} label="Mean return, held out" />
        <Figure label="Mean length" note="steps an episode">
          {shownFigure(heldOut.length_mean)}
        </Figure>
        <Figure label="Success" note={heldOut.success.ok === null ? 'no criteria' : 'by the scenario’s criteria'}>
          {heldOut.success.ok === null ? '–' : heldOut.success.ok ? 'yes' : 'no'}
        </Figure>
      </Figures>
      <Criteria evaluation={heldOut} />
      <details class="package-signed">
        <summary class="package-more">Who ran what, when, on which seeds</summary>
        <dl class="package-facts">
          <Fact label="Run by">{statement.server}</Fact>
          <Fact label="When">
            <Time at={statement.verified_at} />
          </Fact>
          <Fact label="Scenario">
            <a href={`${packageAddress(scenario.name)}/v/${scenario.version}`}>
              <code>
                {scenario.name}@{scenario.version}
              </code>
            </a>
          </Fact>
          <Fact label="Held out">
            {heldOut.episodes} episodes, seed <code>{heldOut.seed}</code>
          </Fact>
          <Fact label="Claim">
            {claim.episodes} episodes, seed <code>{claim.seed}</code>, the same to the bit
          </Fact>
          <Fact label="Trajectories">
            <code>{heldOut.trajectory_hash}</code>
          </Fact>
          <Fact label="Model">
            <code>{statement.agent.model_hash}</code>
          </Fact>
          <Fact label="Signature">
            <code>{signature}</code>
          </Fact>
          <Fact label="Key">
            <a href="/v1/keys">
              <code>{statement.key_id}</code>
            </a>
          </Fact>
        </dl>
      </details>
    </>
  )
}

function Unverified({ details: { verification }, claim }: { details: VersionDetails; claim: Evaluation | null }) {
  const why = verification?.message === null || verification === null ? '' : ` ${verification.message}`
  return (
    <>
      {verification === null || verification.state === 'unavailable' ? (
        <Notice kind="info">Not verified: nobody but its publisher vouches for it.{why}</Notice>
      ) : verification.state === 'pending' ? (
        <Notice kind="info">Not verified yet: a worker is at it.</Notice>
      ) : (
        <Notice kind="failure">
          {verification.state === 'mismatch'
            ? 'Run again, it did not do what its publisher claims.'
            : 'It could not be run to its end.'}
          {why}
        </Notice>
      )}
      {claim !== null && (
        <>
          <Figures>
            <Return evaluation={claim} label="Mean return, claimed" />
          </Figures>
          <Criteria evaluation={claim} />
        </>
      )}
    </>
  )
}

function Return({
  evaluation: { return_mean, return_std, episodes },
  label,
}: {
  evaluation: Evaluation
  label: string
}) {
  return (
    <Figure
      label={label}
      note={`${return_std === null ? '' : `± ${shownFigure(return_std)} over `}${episodes} episodes`}
    >
      {shownFigure(return_mean)}
    </Figure>
  )
}

type Criterion = Evaluation['success']['criteria'][number]
const columns: Column<Criterion>[] = [
  { title: 'Metric', heading: true, cell: ({ metric }) => <code>{metric}</code> },
  { title: 'At least', numeric: true, cell: ({ target }) => shownFigure(target) },
  { title: 'Reached', numeric: true, cell: ({ value }) => shownFigure(value) },
  { title: 'Met', cell: ({ ok }) => (ok ? 'yes' : 'no') },
]

function Criteria({ evaluation: { success } }: { evaluation: Evaluation }) {
  if (success.criteria.length === 0) return null
  return <Table rows={success.criteria} columns={columns} caption="Success criteria and what was reached" />
}

/** As it was signed; null for what is none. */
function statementOf(text: string | undefined): VerificationStatement | null {
  if (text === undefined) return null
  try {
    return verificationStatementSchema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

/** A dash where nothing was measured. */
function shownFigure(value: number | null): string {
  return value === null ? '–' : formatValue(value)
}
