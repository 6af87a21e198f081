import { AgentGymError, workerProtocolHeader } from '@agentgym/contract'
import type { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { requestInvalid } from './route.ts'

type Validated = { target: string } & ({ success: true } | { success: false; error: z.core.$ZodError })

/**
 * Hook of every route that grants a lease or accepts one in a header. A worker of an older release sends its lease in
 * the URL and no protocol version. It gets a code that it treats as a refusal, not as a failed run and not as
 * temporary, so its runs continue on workers of this release.
 */
export function refuseOldWorkers(result: Validated, c: Context): undefined {
  if (result.success) return undefined
  const { error, target } = result
  const names = error.issues.map((issue) => String(issue.path[0]))
  const absent = names.some((name) => c.req.header(name) === undefined)
  if (target !== 'header' || !(absent || names.includes(workerProtocolHeader))) throw requestInvalid(error, target)
  throw new AgentGymError({
    code: 'worker_incompatible',
    message: 'This worker is incompatible with the version of the server.',
    hint: 'Update the worker to the version of the server, and start it again. Its jobs continue on other workers.',
  })
}
