import type { AgentManifest, LearningCurve, SampleEpisode } from '@agentgym/contract'
import { sql } from 'kysely'
import type { Database } from '../../../core/database/database.ts'

const steps = 200

/**
 * Adds the workers' results for the packages that `loadPackages` has loaded: an episode for each, and for agents also
 * their agent.json and curve. With the maximum length that pages show: 200 steps, 200 points.
 */
export async function loadPictures(database: Database): Promise<void> {
  const choices = sql.join(episodes.map((choice) => sql`${JSON.stringify(choice)}::jsonb`))
  // Sixteen parts, for one statement may not take long.
  for (const digit of '0123456789abcdef') {
    const part = sql`id::text like ${`${digit}%`}`
    const agents = sql`from versions where ${part} and package_id in (select id from packages where kind = 'agent')`
    await database.transaction(async (query) => {
      await sql`insert into sample_episodes (version_id, episode)
        select id, (array[${choices}])[1 + row_number() over () % ${sql.lit(episodes.length)}]
        from versions where ${part}`.execute(query)
      await sql`insert into agent_versions (version_id, manifest)
        select id, ${JSON.stringify(syntheticAgentManifest)}::jsonb ${agents}`.execute(query)
      await sql`insert into learning_curves (version_id, points)
        select id, ${JSON.stringify(curve)}::jsonb ${agents}`.execute(query)
    })
  }
  await database.execute('vacuum analyze')
}

/** To five digits, as workers write them. */
const rounded = (value: number): number => Number(value.toPrecision(5))
const wave = (step: number, column: number): number => rounded(Math.sin(step / (7 + column)) * (column + 1) * 0.3)

function episode(columns: number, view: SampleEpisode['view']): SampleEpisode {
  const seen = (step: number) => ({
    observation: Array.from({ length: columns }, (_, column) => wave(step, column)),
    texts: [],
  })
  return {
    format: 1,
    policy: 'random',
    view,
    observation: [{ name: '', kind: 'box', size: columns, shape: [columns] }],
    action: [{ name: '', kind: 'discrete', size: 1, shape: [1], labels: ['left', 'right'] }],
    steps: Array.from({ length: steps }, (_, step) => ({ ...seen(step), action: [step % 2], reward: 1 })),
    last: seen(steps),
    end: 'truncated',
  }
}

const episodes: SampleEpisode[] = [
  episode(4, { kind: 'cart', position: 0, angle: 2, track: { low: -2.4, high: 2.4 } }),
  episode(6, { kind: 'links', links: [0, 2].map((cos) => ({ cos, sin: cos + 1 })), zero: 'down', goal: 1 }),
  episode(8, null),
]

const curve: LearningCurve = Array.from({ length: 200 }, (_, point) => ({
  steps: 2048 * (point + 1),
  return_mean: rounded(500 * (1 - Math.exp(-point / 60))),
}))

const hash = 'a'.repeat(64)
/** An agent.json. */
export const syntheticAgentManifest: AgentManifest = {
  format: 1,
  scenario: {
    name: '@acme/cart-pole',
    version: '1.0.0',
    hash,
    observation: { type: 'box', shape: [4], low: [null, null, null, null], high: [null, null, null, null] },
    action: { type: 'discrete', n: 2, start: 0, labels: ['left', 'right'] },
    success: { return_mean: 475 },
  },
  policy: {
    version: 1,
    observation: [{ name: 'obs', kind: 'box', offset: 0, size: 4, counts: [], shape: [4] }],
    action: [
      {
        name: 'action',
        kind: 'discrete',
        offset: 0,
        size: 1,
        counts: [2],
        distributionOffset: 0,
        maskOffset: 0,
        logStdOffset: 0,
        low: [],
        high: [],
        center: [],
        scale: [],
        start: 0,
      },
    ],
    hidden: [64, 64],
    activation: 'tanh',
    embedding: 8,
    normalizeObservation: true,
  },
  algorithm: 'ppo',
  settings: { learning_rate: 0.0003, epochs: 10 },
  seed: 1,
  steps: 409_600,
  evaluation: {
    scenario: '@acme/cart-pole@1.0.0',
    episodes: 100,
    seed: 7,
    return_mean: 487.2,
    return_std: 21.4,
    length_mean: 487.2,
    metrics: {},
    success: { ok: true, criteria: [{ metric: 'return_mean', target: 475, value: 487.2, ok: true }] },
    trajectory_hash: hash,
  },
  model_hash: hash,
  runtime: { agentgym: '0.1.0' },
}
