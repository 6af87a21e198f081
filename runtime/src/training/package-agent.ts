import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import {
  type AgentManifest,
  type AgentParent,
  describeTaskSet,
  escapeMarkdown,
  findReadmePlaceholder,
  levelMetrics,
  type Reliability,
  reliabilityText,
  trainedParts,
} from '@agentgym/contract'
import { outcomeText } from '@agentgym/contract/metrics'
import { comparedSection } from '../comparison/model-card-section.ts'
import { runtimeSignature } from '../evaluation/runtime-signature.ts'
import type { OpenedEnvironment, RunSubject } from '../external/opened-environment.ts'
import { identityOf } from '../sandbox/build-scenario.ts'
import { drawLearningCurve } from './learning-curve.ts'
import { writeAtomically } from './run-folder.ts'
import type { TrainingOutcome } from './training-job.ts'

type TrainedAgent = {
  outcome: NonNullable<TrainingOutcome>
  scenario: RunSubject & Partial<Pick<OpenedEnvironment, 'environment'>>
  /** Name and version of the package; by default they say what it is, as a draft. */
  name?: string
  version?: string
}

/**
 * Writes an agent package into a folder: model.onnx, learning-curve.svg, README.md, agent.json, package.json. agent.json
 * comes last but one, so a folder that a crash left half-written is not taken for an agent.
 */
export async function packageAgent(folder: string, agent: TrainedAgent): Promise<AgentManifest> {
  const { outcome, scenario } = agent
  const { plan, seed } = outcome
  const manifest = agentManifest(agent)
  const unscoped = packageNameOf(scenario.package.name)
  const target = scenario.package.agentgym.success.return_mean ?? null
  const title = `${unscoped} · ${plan.algorithm.toUpperCase()} · seed ${seed}`
  await writeAtomically(join(folder, 'model.onnx'), outcome.model)
  await writeAtomically(join(folder, 'learning-curve.svg'), drawLearningCurve(outcome.curve, { title, target }))
  await writeAtomically(join(folder, 'README.md'), modelCard(manifest, scenario.package, outcome.seconds))
  await writeAtomically(join(folder, 'agent.json'), json(manifest))
  await writeAtomically(join(folder, 'package.json'), json(packageManifest(agent, unscoped)))
  return manifest
}

function agentManifest({ outcome, scenario }: TrainedAgent): AgentManifest {
  const { description, plan, seed } = outcome
  const trainable = trainedParts(outcome.policy)
  return {
    format: 1,
    scenario: {
      ...identityOf(scenario),
      observation: description.observation,
      action: description.action,
      ...(description.masked ? { mask_required: true as const } : {}),
      success: scenario.package.agentgym.success,
      ...(scenario.environment === undefined ? {} : { environment: scenario.environment }),
    },
    policy: outcome.policy,
    ...(trainable === undefined ? {} : { trainable }),
    algorithm: plan.algorithm,
    settings: plan.settings,
    seed,
    steps: outcome.stepsOfWeights,
    ...(outcome.confidence === null ? {} : { confidence: outcome.confidence }),
    evaluation: outcome.evaluation,
    model_hash: sha256(outcome.model),
    runtime: runtimeSignature(),
    ...(outcome.parent === null ? {} : { parent: outcome.parent }),
  }
}

function packageManifest({ outcome, name, version }: TrainedAgent, unscoped: string): Record<string, unknown> {
  return {
    name: name ?? `${unscoped}-${outcome.plan.algorithm}`,
    version: version ?? '0.1.0',
    license: 'UNLICENSED',
    files: ['agent.json', 'model.onnx', 'README.md', 'learning-curve.svg'],
    agentgym: { kind: 'agent' },
  }
}

/** Without the scope; of `gymnasium:LunarLander-v3`, `lunarlander-v3`: what npm takes. */
export function packageNameOf(subject: string): string {
  const unscoped = subject.replace(/^@[^/]*\//, '').replace(/^(gymnasium|python|openenv|vector):/, '')
  const name = unscoped.toLowerCase().replace(/[^a-z0-9._-]+/g, '-')
  return name.replace(/^[^a-z0-9]+/, '') || 'environment'
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** README.md of an agent package: what it is, how good it is, how to run it and how to get the same result again. */
function modelCard(agent: AgentManifest, scenario: RunSubject['package'], seconds: number): string {
  const { evaluation } = agent
  const title = escapeMarkdown(scenario.agentgym.title)
  const lines = [
    `# ${title}: trained agent`,
    '',
    `Trained with ${agent.algorithm.toUpperCase()} for ${count(agent.steps)} environment steps (${Math.round(seconds)} s) on \`${agent.scenario.name}@${agent.scenario.version}\`.`,
    // A template's is yet to be written, and would keep the agent from being published.
    ...(findReadmePlaceholder(scenario.agentgym.summary) ? [] : [escapeMarkdown(scenario.agentgym.summary)]),
    '',
    `**${escapeMarkdown(outcomeText(evaluation))}** on ${count(evaluation.episodes)} held-out episodes.`,
    ...(agent.parent === undefined ? [] : ['', startedFrom(agent.parent)]),
    '',
    '![Learning curve: mean return of the last 100 episodes over environment steps](learning-curve.svg)',
    '',
    '## Evaluation',
    '',
    `${evaluation.episodes} held-out episodes, seed ${evaluation.seed}${taskSet(evaluation)}, greedy actions.`,
    '',
    '| measure | value | target | reached |',
    '| --- | ---: | ---: | --- |',
    ...evaluationRows(agent),
    ...levelTable(agent),
    '',
    ...comparedSection(agent),
    ...calibrationSection(agent),
    '',
    '## Use',
    '',
    '```sh',
    `agentgym eval . --episodes ${evaluation.episodes} --seed ${evaluation.seed}`,
    '```',
    '',
    'gives the same numbers and the same trajectory hash again:',
    '',
    `\`${evaluation.trajectory_hash}\``,
    '',
    '`model.onnx` takes ' +
      agent.policy.observation.map((leaf) => `\`${leaf.name}\` [batch, ${leaf.size}]`).join(', ') +
      ' as float32 and gives ' +
      outputs(agent) +
      ` and \`value\` [batch], ${valueMeaning(agent)}. Observation normalisation is part of the graph.`,
    ...(hasActionValues(agent) ? ['', valuesAsLogits] : []),
    ...encodedInputs(agent),
    '',
    '## How it was made',
    '',
    `Seed ${agent.seed}; scenario bundle \`${agent.scenario.hash.slice(0, 16)}…\`; ${Object.entries(agent.runtime)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    '',
    '| setting | value |',
    '| --- | --- |',
    ...Object.entries(agent.settings).map(([name, value]) => `| ${name} | ${JSON.stringify(value)} |`),
    '',
    '## Limits',
    '',
    'The agent has seen this scenario version only. A changed observation, reward or time limit needs a new training run.',
    '',
  ]
  return lines.join('\n')
}

/** What a caller of the model must compute for inputs that are made of texts. */
function encodedInputs({ policy }: AgentManifest): string[] {
  return policy.observation.flatMap(({ name, encoder }) =>
    encoder === undefined
      ? []
      : [
          '',
          `\`${name}\` is the vector of a text by the sentence encoder \`${encoder.name}\` (model ${encoder.model_sha256}): mean over its first ${encoder.max_tokens} word pieces, of norm 1. AgentGym computes it; a hosted call takes the text.`,
        ],
  )
}

function startedFrom({ name, version, license, model_hash }: AgentParent): string {
  const terms = license === null ? 'no license' : `license ${escapeMarkdown(license)}`
  return `It started from the weights of \`${name}@${version}\` (${terms}, model \`${model_hash.slice(0, 16)}…\`).`
}

function taskSet({ tasks }: AgentManifest['evaluation']): string {
  return tasks === undefined ? '' : ` (${describeTaskSet(tasks)})`
}

/** A row a level; nothing for a scenario without levels. */
function levelTable({ evaluation }: AgentManifest): string[] {
  if (evaluation.levels === undefined) return []
  const metrics = levelMetrics(evaluation)
  const shown = (value: number | null | undefined) => (typeof value === 'number' ? formatNumber(value) : '–')
  return [
    '',
    `| level | episodes | return_mean |${metrics.map((name) => ` ${escapeMarkdown(name)} |`).join('')}`,
    `| --- | ---: | ---: |${metrics.map(() => ' ---: |').join('')}`,
    ...evaluation.levels.map((level) => {
      const values = metrics.map(
        (name) => ` ${shown(Object.hasOwn(level.metrics, name) ? level.metrics[name] : null)} |`,
      )
      return `| ${escapeMarkdown(level.name)} | ${level.episodes} | ${shown(level.return_mean)} |${values.join('')}`
    }),
  ]
}

/** What the probabilities mean; nothing where it was not measured. */
function calibrationSection({ evaluation: { calibration }, confidence }: AgentManifest): string[] {
  if (calibration === undefined) return []
  const measured: [string, Reliability | null][] = [
    ['probability', calibration.probability],
    ['confidence', calibration.confidence],
  ]
  const rows = measured.flatMap(([name, reliability]) =>
    reliability === null ? [] : [`| ${name} | ${percent(reliability.ece)} | ${reliabilityText(reliability)} |`],
  )
  return [
    '',
    '### Calibration',
    '',
    `Over the ${count(calibration.choices)} choices of these episodes. A choice is right if its episode was solved.`,
    '',
    '| predicted by | expected calibration error | most often |',
    '| --- | ---: | --- |',
    ...rows,
    '',
    confidence === undefined
      ? 'The agent has no calibrated confidence: its probabilities are how often the policy would choose, not how often that works.'
      : `\`confidence\` was fit on ${count(confidence.episodes)} further held-out episodes, which neither training nor this evaluation played.`,
  ]
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`
}

function evaluationRows({ evaluation }: AgentManifest): string[] {
  const targets = new Map(evaluation.success.criteria.map((criterion) => [criterion.metric, criterion]))
  const measured = new Map<string, number | null>([['return_mean', evaluation.return_mean]])
  for (const [name, value] of Object.entries(evaluation.metrics)) measured.set(name, value)
  for (const { metric, value } of evaluation.success.criteria) measured.set(metric, value)
  const spread = evaluation.return_std === null ? '' : ` ± ${formatNumber(evaluation.return_std)}`
  return [...measured].map(([name, value]) => {
    const target = targets.get(name)
    const shown = value === null ? '–' : `${formatNumber(value)}${name === 'return_mean' ? spread : ''}`
    return `| ${escapeMarkdown(name)} | ${shown} | ${target ? `≥ ${target.target}` : ''} | ${target ? (target.ok ? 'yes' : 'no') : ''} |`
  })
}

function hasActionValues({ policy }: AgentManifest): boolean {
  return policy.head === 'q' || policy.head === 'dueling_q'
}

/** GRPO learns without a critic: the network is there, as it was drawn. SAC's critics stay with the learner. */
function valueMeaning(agent: AgentManifest): string {
  if (hasActionValues(agent)) return 'their maximum over all actions, in units of the reward'
  if (agent.policy.head === 'squashed_gaussian') return 'which is 0: the critics are not part of the agent'
  return agent.algorithm === 'grpo' ? 'which was not trained' : 'in units of the reward'
}

/** Of a Q-network. */
const valuesAsLogits =
  'The logits are the values of the actions (Q-values, in units of the reward), and the agent takes the largest. They are no log-probabilities: probabilities computed from them (a softmax, as hosted calls show) rank the actions, and say nothing about how often the agent takes each.'

function outputs(agent: AgentManifest): string {
  const leaves = agent.policy.action.filter(({ fixed }) => fixed === undefined)
  return leaves
    .map((leaf) => {
      const prefix = leaves.length === 1 ? '' : `${leaf.name}.`
      if (leaf.kind === 'box') return `\`${prefix}mean\`, \`${prefix}log_std\` [batch, ${leaf.size}]`
      return `\`${prefix}logits\` [batch, ${leaf.counts.reduce((a, b) => a + b, 0)}]`
    })
    .join(', ')
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}
