import type { SuccessCriteria } from '@agentgym/contract'
import { type PlayedMeans, scriptedPlayers } from '@agentgym/runtime/benchmarks'
import type { FinishedRun } from './finished-runs.ts'
import { count, digitsOf, met, minus, type Row, scoreText } from './results-page.ts'

type Played = Record<(typeof scriptedPlayers)[number], PlayedMeans | null>

const playerNames: Record<(typeof scriptedPlayers)[number], string> = {
  random: 'random actions',
  idle: 'always the first action (0 in boxes)',
  oracle: 'scripted oracle',
}

/** The table of a scenario's README: a row for each player, a column for each success criterion. */
export function scenarioTable(results: {
  success: SuccessCriteria
  players: Played
  trained: Row[]
  seeds: number
}): string {
  const { success, players, trained, seeds } = results
  const criteria = Object.keys(success)
  const rows = [
    ['target', ...criteria.map((name) => `≥ ${minus(success[name])}`), ''],
    ...scriptedPlayers.flatMap((player) => {
      const reached = players[player]
      return reached === null ? [] : [[playerNames[player], ...criteria.map((name) => meanText(reached, name)), '']]
    }),
    ...trained
      .filter(({ runs }) => runs.length > 0)
      .map(({ experiment, runs }) => [
        trainedName(experiment),
        ...criteria.map((name) => scoreText(scoresOf(runs, name, experiment.metric), seeds, '')),
        met(runs),
      ]),
  ]
  return [
    `| Player | ${criteria.map((name) => `\`${name}\``).join(' | ')} | Seeds that met all |`,
    `|---|${'---:|'.repeat(criteria.length + 1)}`,
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    'Means over held-out episodes: 96 for players without training, and for each trained agent those that decided nothing. Of',
    `${seeds} seeds, the interquartile mean and its 95% bootstrap interval ([docs/results.md](../../docs/results.md)). Written by`,
    '`npm run bench -- results --readme`.',
  ].join('\n')
}

function trainedName({ steps, set, tuned }: Row['experiment']): string {
  if (tuned) return `trained with the \`training\` block, ${count(steps)} steps`
  const changed = Object.entries(set ?? {}).map(([name, value]) => `\`${name}=${value}\``)
  return `trained with ${changed.length === 0 ? 'nothing' : `nothing but ${changed.join(', ')}`} set, ${count(steps)} steps`
}

/** Runs as if `name` were their score; those that did not record it are left out. */
function scoresOf(runs: FinishedRun[], name: string, metric: string): FinishedRun[] {
  return runs.flatMap((run) => {
    const score = run.criteria?.[name] ?? (name === metric ? run.score : undefined)
    return score === undefined ? [] : [{ ...run, score }]
  })
}

function meanText({ return_mean, metrics }: PlayedMeans, name: string): string {
  const value = name === 'return_mean' ? return_mean : metrics[name]
  return value === undefined ? '' : minus(value.toFixed(digitsOf([value])))
}

const begin = '<!-- results -->'
const end = '<!-- end of results -->'
const heading = '\n## Results\n'
const source = '\n## Source\n'

/**
 * A README with this table between its markers. Without markers it gets them: at the beginning of its results, or in a section
 * of its own before its source.
 */
export function withTable(readme: string, table: string): string {
  const section = `${begin}\n\n${table}\n\n${end}`
  const [first, last] = [readme.indexOf(begin), readme.indexOf(end)]
  if (first >= 0 && last > first) return readme.slice(0, first) + section + readme.slice(last + end.length)
  const results = readme.indexOf(heading)
  if (results >= 0) {
    const after = results + heading.length
    return `${readme.slice(0, after)}\n${section}\n${readme.slice(after)}`
  }
  const at = readme.indexOf(source)
  const added = `${heading}\n${section}\n`
  return at < 0 ? `${readme.trimEnd()}\n${added}` : readme.slice(0, at) + added + readme.slice(at)
}
