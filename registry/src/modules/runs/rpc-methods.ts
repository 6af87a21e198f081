import { type RpcMethod, rpcMethods } from '@agentgym/contract'
import type { z } from 'zod'
import type { Actor } from '../../core/access/authorise.ts'
import { requestInvalid } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import { evaluateRun, findEvaluation } from './evaluations.ts'
import { answerBytes, trajectoryPage } from './export-trajectories.ts'
import type { RpcServer } from './json-rpc.ts'
import { requireRun } from './run-access.ts'
import { runOf } from './runs.store.ts'
import { cancelRun } from './steer-run.ts'
import { submitRun } from './submit-run.ts'

type Caller = { actor: Actor | null; ip: string; traceparent: string | null }
type ParamsOf<Method extends RpcMethod> = z.output<(typeof rpcMethods)[Method]['params']>
type ResultOf<Method extends RpcMethod> = z.output<(typeof rpcMethods)[Method]['result']>
type Implementation = { [Method in RpcMethod]: (params: ParamsOf<Method>) => Promise<ResultOf<Method>> }

/** The methods of `POST /rpc` for whoever calls: what REST's routes do, with params that are held to their schemas. */
export function trainingMethods(services: Services, caller: Caller): RpcServer['methods'] {
  const { database, config } = services
  const { actor } = caller
  const room = { bytes: answerBytes }
  const start = ({ idempotency_key: idempotencyKey, ...request }: ParamsOf<'training.start'>) =>
    submitRun(services, { ...caller, request, idempotencyKey })
  const implementation: Implementation = {
    'training.start_grpo': (params) => start({ ...params, algorithm: 'grpo' }),
    'training.start': start,
    'training.get_status': async ({ run_id: runId, evaluation_id: evaluationId }) => {
      if (evaluationId !== undefined) return findEvaluation(database.query, actor, evaluationId)
      const { run } = await requireRun(database.query, actor, runId ?? '')
      return runOf(run, config)
    },
    'training.cancel': ({ run_id: runId }) => cancelRun(services, { ...caller, runId }),
    'training.evaluate': ({ run_id: runId, ...wanted }) => evaluateRun(services, { ...caller, ...wanted, runId }),
    'training.export_trajectories': async ({ run_id: runId, ...page }) => {
      const { run } = await requireRun(database.query, actor, runId, 'data:export')
      return trajectoryPage(services, run.id, page, room)
    },
  }
  const names = Object.keys(rpcMethods) as RpcMethod[]
  return Object.fromEntries(names.map((name) => [name, checked(name, implementation[name])]))
}

function checked<Method extends RpcMethod>(
  name: Method,
  run: Implementation[Method],
): (params: Record<string, unknown>) => Promise<unknown> {
  return async (params) => {
    const parsed = rpcMethods[name].params.safeParse(params)
    if (!parsed.success) throw requestInvalid(parsed.error, 'params')
    return run(parsed.data as never)
  }
}
