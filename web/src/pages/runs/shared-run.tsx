import { AgentGymError, type SharedRun } from '@agentgym/contract'
import { route } from '../../app/route.ts'
import type { Visit } from '../../app/visit.ts'
import { RunState } from '../../components/badge.tsx'
import { Time } from '../../components/values.tsx'
import { useIsland } from '../../layout/page-context.ts'
import { isRunId, runName } from './read-run.ts'
import { MainChart, RunPanels } from './run-charts.tsx'
import { RunEpisodesPart, readShown, type SampledEpisodes } from './run-episodes.tsx'
import { RunResult, RunSettings } from './run-result.tsx'

const sharedPath = '/runs/:id{[0-9a-f-]+}/shared'

export const sharedRunRoutes = [
  route('get', sharedPath, { access: 'public' }, (visit) => showShared(visit, undefined)),
  // The log of requests leaves out parameters of this name.
  route('get', `${sharedPath}/:secret`, { access: 'public' }, (visit) => showShared(visit, visit.params.secret)),
  // For the replay: the link's secret goes to the API in a header.
  route('get', `${sharedPath}/episodes/:iteration`, { access: 'public' }, (visit) => sendEpisode(visit, undefined)),
  route('get', `${sharedPath}/:secret/episodes/:iteration`, { access: 'public' }, (visit) =>
    sendEpisode(visit, visit.params.secret),
  ),
]

function readEpisode({ api, params: { id } }: Visit, secret: string | undefined, iteration: number) {
  const header = secret === undefined ? undefined : { 'agentgym-link': secret }
  return api.GET('/v1/runs/{id}/shared/episodes/{iteration}', { params: { path: { id, iteration }, header } })
}

async function sendEpisode(visit: Visit, secret: string | undefined): Promise<Response> {
  requirePossible(visit.params.id, secret)
  const { data } = await readEpisode(visit, secret, Number(visit.params.iteration))
  return Response.json(data, { headers: { 'cache-control': 'no-store' } })
}

function requirePossible(id: string, secret: string | undefined): void {
  if (isRunId(id) && (secret ?? '').length <= 64) return
  throw new AgentGymError({ code: 'run_not_found', message: 'Run not found.' })
}

/** A run that is public, or shared by a link. Search engines leave it out either way. */
async function showShared(visit: Visit, secret: string | undefined): Promise<Response> {
  const { id } = visit.params
  requirePossible(id, secret)
  const header = secret === undefined ? undefined : { 'agentgym-link': secret }
  const { data } = await visit.api.GET('/v1/runs/{id}/shared', { params: { path: { id }, header } })
  const wanted = visit.query.get('episode')
  const episodes = await readShown(data.episodes ?? [], wanted, (at) => readEpisode(visit, secret, at))
  const address = `/runs/${id}/shared${secret === undefined ? '' : `/${encodeURIComponent(secret)}`}`
  const response = visit.page(<SharedRunPage run={data} {...{ episodes, address }} />, {
    title: `${runName(data)} on ${data.scenario.name}`,
    hidden: true,
  })
  // The address is the secret.
  response.headers.set('referrer-policy', 'no-referrer')
  return response
}

/** What others see of a run. */
type SharedRunPageProps = { run: SharedRun; episodes: SampledEpisodes; address: string }

function SharedRunPage({ run, episodes, address }: SharedRunPageProps) {
  useIsland('compare-live')
  const { points, evaluations, targets, scenario, algorithm, seed } = run
  const made = `${algorithm.toUpperCase()}, seed ${seed}`
  const charted = { points, evaluations, targets, siblings: [], live: false }
  return (
    <div class="run" data-compare>
      <div class="run-head">
        <p class="run-state">
          <RunState state={run.state} />
        </p>
        <h1 dir="auto">{runName(run)}</h1>
        <RunResult run={run} evaluations={evaluations} />
        <p class="run-facts">
          <span class="mono">
            {scenario.name}@{scenario.version}
          </span>
          {runName(run) !== made && <span>{made}</span>}
          <Time at={run.created_at} />
        </p>
      </div>
      <MainChart read={charted} />
      <RunEpisodesPart episodes={episodes} address={address} source={`${address}/episodes`} />
      <RunPanels read={charted} />
      <RunSettings settings={run.settings} />
    </div>
  )
}
