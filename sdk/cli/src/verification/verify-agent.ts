import { verifyStatement } from '@agentgym/client'
import { AgentGymError, type AgentManifest, type Evaluation, type VerificationStatement } from '@agentgym/contract'
import { type Connection, findConnection } from '../account/connection.ts'
import type { CommandContext } from '../command-context.ts'
import { installPackage } from '../packages/install-package.ts'
import { readVersion } from '../packages/publish-package.ts'
import { type PackageTarget, resolvePackage } from '../registry/package-target.ts'
import { formatCount } from '../terminal/format-values.ts'
import { transferProgress } from '../terminal/progress.ts'
import { safeText } from '../terminal/text.ts'
import { agreementText, differenceText, figuresThatDiffer } from './evaluation-differences.ts'
import { playAgent } from './play-agent.ts'
import { readSigningKeys } from './server-verification.ts'

export type VerificationCheck = { id: string; ok: boolean; message: string }

/** What was held against what: `expected` is claimed or signed, `found` came out here. */
type Replay = { expected: Evaluation; found: Evaluation }

export type VerificationReport = {
  ok: boolean
  agent: { name: string | null; version: string | null; folder: string }
  checks: VerificationCheck[]
  claim: Replay | null
  held_out: Replay | null
  statement: VerificationStatement | null
  runtime: Record<string, string>
}

export type VerifyOptions = { onCheck(check: VerificationCheck): void; scenario?: string }

/** Plays an agent's claim again: the episodes and seed of agent.json. For a folder, which nobody has signed. */
export async function verifyFolder(
  folder: string,
  options: VerifyOptions,
  context: CommandContext,
): Promise<VerificationReport> {
  const runtime = await context.runtime()
  const manifest = await runtime.readAgent(folder)
  const report = startReport(folder, runtime.runtimeVersions(), options)
  report.note('model', true, 'model.onnx is the one that agent.json names')
  const replay = await playAgain(folder, manifest, manifest.evaluation, options, context)
  report.note('claim', ...verdictOf(replay, manifest.runtime, report.runtime))
  return report.end({ claim: replay })
}

/**
 * Checks a published agent without trusting who serves it with more than its key: the signature over the statement, the
 * package against the statement, and both of its evaluations played here again. Throws `verification_missing` where the
 * server has signed nothing.
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
  const report = startReport(folder, runtime.runtimeVersions(), options, { name: target.name, version })
  const { verified_at: at, server, key_id: key } = statement
  report.note('signature', true, `${server} signed the statement on ${at.slice(0, 10)} with its key ${key}`)
  report.note('package', ...packageVerdict(statement, manifest, { name: target.name, version, integrity }))

  const claim = await playAgain(folder, manifest, statement.claim, options, context)
  report.note('claim', ...verdictOf(claim, statement.runtime, report.runtime))
  const heldOut = await playAgain(folder, manifest, statement.held_out, options, context)
  report.note('held_out', ...verdictOf(heldOut, statement.runtime, report.runtime))
  return report.end({ claim, held_out: heldOut, statement })
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
        ? `${label} is not verified yet: a worker is at it`
        : `the server has signed nothing about ${label} (${state})${why}`,
    hint: `agentgym install ${label} fetches it as it is, and agentgym eval ${name} plays it here.`,
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

/** Whether the statement is about this very package, its model and its claim. */
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
  const claims = figuresThatDiffer(claim, manifest.evaluation)
  if (other.length === 0 && claims.length === 0) {
    return [true, `package, model and claim are those of the statement (${found.integrity.slice(0, 19)})`]
  }
  const lines = other.map(([what, signed, here]) => `${what} is ${safeText(here, 120)}, not ${safeText(signed, 120)}`)
  if (claims.length > 0) lines.push(`agent.json claims another ${claims.map(({ field }) => field).join(', ')}`)
  return [false, `the statement is about something else: ${lines.join('; ')}`]
}

async function playAgain(
  folder: string,
  manifest: AgentManifest,
  expected: Evaluation,
  { scenario }: VerifyOptions,
  context: CommandContext,
): Promise<Replay> {
  const { episodes, seed } = expected
  const label = safeText(`${manifest.scenario.name}@${manifest.scenario.version}`, 240)
  context.say(`${context.terminal.symbols.next} Play ${formatCount(episodes)} episodes of ${label}, seed ${seed}`)
  return { expected, found: await playAgent(folder, manifest, { episodes, seed, scenario }, context) }
}

function verdictOf(
  { expected, found }: Replay,
  theirs: Record<string, string>,
  ours: Record<string, string>,
): [boolean, string] {
  const differences = figuresThatDiffer(expected, found)
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
