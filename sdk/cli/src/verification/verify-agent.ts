import type { PackageTarget } from '@agentgym/agent/packages'
import { heldOutSeed, matchesCommitment, verifyStatement } from '@agentgym/client'
import {
  AgentGymError,
  type AgentManifest,
  type Evaluation,
  taskOrderOf,
  type VerificationStatement,
} from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { installPackage } from '../packages/install-package.ts'
import { readVersion } from '../packages/publish-package.ts'
import { resolvePackage } from '../registry/package-target.ts'
import { formatCount } from '../terminal/format-values.ts'
import { transferProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'
import { agreementText, differenceText, differingFields } from './evaluation-differences.ts'
import { playAgent } from './play-agent.ts'
import { readSeason, readSigningKeys } from './server-verification.ts'

export type VerificationCheck = { id: string; ok: boolean; message: string }

/** A reproduced evaluation: `expected` was claimed or signed, `found` was computed on this machine. */
type Reproduction = { expected: Evaluation; found: Evaluation }

export type VerificationReport = {
  ok: boolean
  agent: { name: string | null; version: string | null; folder: string }
  checks: VerificationCheck[]
  claim: Reproduction | null
  held_out: Reproduction | null
  statement: VerificationStatement | null
  runtime: Record<string, string>
}

export type VerifyOptions = { onCheck(check: VerificationCheck): void; scenario?: string }

/** Reproduces the evaluation in agent.json. For a local folder, which has no signature. */
export async function verifyFolder(
  folder: string,
  options: VerifyOptions,
  context: CommandContext,
): Promise<VerificationReport> {
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  if (manifest.scenario.environment !== undefined) throw notVerifiable(manifest.scenario.name)
  const report = startReport(folder, runtime.runtimeSignature(), options)
  report.note('model', true, 'model.onnx matches the hash in agent.json')
  const replay = await reproduce(folder, manifest, manifest.evaluation, options, context)
  report.note('claim', ...verdictOf(replay, manifest.runtime, report.runtime))
  return report.end({ claim: replay })
}

function notVerifiable(name: string): AgentGymError {
  return new AgentGymError({
    code: 'usage_invalid',
    message: `environment not in the registry: not verifiable. The agent was trained on ${name}`,
    hint: 'Play it in that environment with agentgym eval.',
  })
}

/**
 * Verifies a published agent, trusting only the server's key: the signature of the statement, the package against the
 * statement, and both evaluations by running them on this machine. Throws `verification_missing` without a statement.
 */
export async function verifyPublished(
  target: PackageTarget,
  options: VerifyOptions,
  context: CommandContext,
): Promise<VerificationReport> {
  const connection = await findConnection(context)
  const { version, integrity } = await resolvePackage(connection, target)
  const statement = await signedStatement(connection, { name: target.name, version })
  const folder = await install(connection, { name: target.name, range: version }, context)
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  const report = startReport(folder, runtime.runtimeSignature(), options, { name: target.name, version })
  const { verified_at: at, server, key_id: key } = statement
  report.note('signature', true, `${server} signed the statement on ${at.slice(0, 10)} with its key ${key}`)
  report.note('package', ...packageVerdict(statement, manifest, { name: target.name, version, integrity }))

  const claim = await reproduce(folder, manifest, statement.claim, options, context)
  report.note('claim', ...verdictOf(claim, statement.runtime, report.runtime))
  const drawn = await seedOf(connection, statement)
  if ('message' in drawn) {
    report.note('held_out', drawn.ok, drawn.message)
    return report.end({ claim, statement })
  }
  const expected = { ...statement.held_out, seed: drawn.seed }
  const heldOut = await reproduce(folder, manifest, expected, options, context)
  report.note('held_out', ...verdictOf(heldOut, statement.runtime, report.runtime))
  return report.end({ claim, held_out: heldOut, statement })
}

/**
 * The seed of the held-out episodes: as signed by older servers, else computed from the season's secret once the server has
 * revealed it. Otherwise what to report: a secret that is not what the server committed to is a failure.
 */
async function seedOf(
  connection: Connection,
  statement: VerificationStatement,
): Promise<{ seed: number } | { ok: boolean; message: string }> {
  const { seed } = statement.held_out
  if (seed !== null) return { seed }
  const season = statement.type === 'agentgym-verification-1' ? null : statement.season
  if (season === null) return { ok: false, message: 'the statement names neither a seed nor a season' }
  const found = await readSeason(connection, season.id)
  if (found === undefined) return { ok: false, message: `the server does not list season ${safeText(season.id, 20)}` }
  if (found.secret === null) {
    const when = found.ended
      ? 'the server lost the secret of the season'
      : `their seed is secret until season ${found.id} ends, on ${found.ends_at.slice(0, 10)}`
    return { ok: true, message: `not reproduced: ${when}` }
  }
  if (!(await matchesCommitment(found.secret, season.commitment)))
    return { ok: false, message: `the secret of season ${found.id} is not what the server committed to` }
  return { seed: await heldOutSeed(found.secret, statement.scenario.hash) }
}

async function signedStatement(
  connection: Connection,
  { name, version }: { name: string; version: string },
): Promise<VerificationStatement> {
  const { verification } = await readVersion(connection, name, version)
  if (verification?.signed) return verifyStatement(verification.signed, await readSigningKeys(connection))
  const label = `${name}@${version}`
  const why = verification?.message ? `: ${verification.message}` : ''
  const state = verification?.state ?? 'no agent'
  throw new AgentGymError({
    code: 'verification_missing',
    message:
      state === 'pending'
        ? `${label} is still being verified`
        : `the server has not signed a verification of ${label} (${state})${why}`,
    hint: `To evaluate it without a signature: agentgym install ${label}, then agentgym eval ${name}`,
    data: { name, version, state },
  })
}

async function install(connection: Connection, target: PackageTarget, context: CommandContext): Promise<string> {
  const progress = transferProgress(safeText(target.name, 60), context)
  try {
    return (await installPackage(connection, target, { lock: false, onProgress: progress.update }, context)).folder
  } finally {
    progress.close()
  }
}

/** Whether the statement is about this package, its model and its claim. */
function packageVerdict(
  { agent, scenario, claim }: VerificationStatement,
  manifest: AgentManifest,
  found: { name: string; version: string; integrity: string },
): [boolean, string] {
  const facts: [string, string, string][] = [
    ['the name', agent.name, found.name],
    ['the version', agent.version, found.version],
    ['the integrity', agent.integrity, found.integrity],
    ['the model', agent.model_hash, manifest.model_hash],
    ['the scenario', `${scenario.name}@${scenario.version}`, `${manifest.scenario.name}@${manifest.scenario.version}`],
    ["the scenario's bundle", scenario.hash, manifest.scenario.hash],
    ['the scenario of the claim', claim.scenario, manifest.evaluation.scenario],
  ]
  const other = facts.filter(([, signed, here]) => signed !== here)
  const claims = differingFields(claim, manifest.evaluation)
  if (other.length === 0 && claims.length === 0) {
    return [true, `package, model and claim match the statement (${found.integrity.slice(0, 19)})`]
  }
  const lines = other.map(([what, signed, here]) => `${what} is ${safeText(here, 120)}, not ${safeText(signed, 120)}`)
  if (claims.length > 0) lines.push(`agent.json has a different ${claims.map(({ field }) => field).join(', ')}`)
  return [false, `the statement does not match: ${lines.join('; ')}`]
}

async function reproduce(
  folder: string,
  manifest: AgentManifest,
  expected: Evaluation,
  { scenario }: VerifyOptions,
  context: CommandContext,
): Promise<Reproduction> {
  const { episodes, seed } = expected
  const taskOrder = taskOrderOf(expected)
  const label = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 240)
  context.print(
    `${context.terminal.symbols.next} Evaluating ${formatCount(episodes)} episodes of ${label}, seed ${seed}`,
  )
  return { expected, found: await playAgent(folder, manifest, { episodes, seed, taskOrder, scenario }, context) }
}

function verdictOf(
  { expected, found }: Reproduction,
  theirs: Record<string, string>,
  ours: Record<string, string>,
): [boolean, string] {
  const differences = differingFields(expected, found)
  if (differences.length === 0) return [true, agreementText(found)]
  return [false, differenceText(differences, theirs, ours)]
}

function startReport(
  folder: string,
  runtime: Record<string, string>,
  { onCheck }: VerifyOptions,
  published: { name: string; version: string } | null = null,
) {
  const checks: VerificationCheck[] = []
  return {
    runtime,
    note(id: string, ok: boolean, message: string) {
      const check = { id, ok, message }
      checks.push(check)
      onCheck(check)
    },
    end(parts: Partial<Pick<VerificationReport, 'claim' | 'held_out' | 'statement'>>): VerificationReport {
      return {
        ok: checks.every(({ ok }) => ok),
        agent: { name: published?.name ?? null, version: published?.version ?? null, folder },
        checks,
        claim: null,
        held_out: null,
        statement: null,
        ...parts,
        runtime,
      }
    },
  }
}
