import { AgentGymError, type EvaluationJob } from '@agentgym/contract'
import type { Visit } from '../app/visit.ts'
import { readRun } from '../pages/runs/read-run.ts'
import type { RefusedForm } from '../pages/runs/refused-form.ts'
import { RunPage } from '../pages/runs/run-page.tsx'

export const runPath = '/runs/:id{[0-9a-f-]+}'

export function isRunId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

/** The page of a run, with the form on it that was refused. Throws `run_not_found`. */
export async function showRun(visit: Visit, refused: RefusedForm | null = null): Promise<Response> {
  if (!isRunId(visit.params.id)) throw new AgentGymError({ code: 'run_not_found', message: 'There is no such run.' })
  const [read, asked] = await Promise.all([readRun(visit, visit.params.id), readAsked(visit)])
  const refreshing =
    visit.query.get('refresh') === '10' && (read.run.state === 'queued' || read.run.state === 'running')
  const response = visit.page(<RunPage read={read} asked={asked} refused={refused} refreshing={refreshing} />, {
    title: read.run.note ?? `Run on ${read.run.scenario.name}`,
    status: refused?.failure.status,
    hidden: true,
  })
  // For browsers without scripts: those with them go on by the run's events.
  if (refreshing) response.headers.set('refresh', '10')
  return response
}

/** The evaluation that the address names, where it is one of this run. */
async function readAsked({ api, params, query }: Visit): Promise<EvaluationJob | null> {
  const id = query.get('evaluation') ?? ''
  if (!isRunId(id)) return null
  try {
    const { data } = await api.GET('/v1/evaluations/{id}', { params: { path: { id } } })
    return data?.run === params.id ? (data as EvaluationJob) : null
  } catch (error) {
    if (error instanceof AgentGymError && error.code === 'evaluation_not_found') return null
    throw error
  }
}
