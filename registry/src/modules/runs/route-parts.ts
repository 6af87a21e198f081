import type { ErrorCode } from '@agentgym/contract'
import { z } from '@hono/zod-openapi'
import type { Actor } from '../../core/access/authorize.ts'
import type { RequestReader } from '../../core/http/env.ts'
import { currentTraceparent } from '../../core/http/request-context.ts'

/** Every route of a run takes its ID. */
export const runParams = z.object({ id: z.uuid().openapi({ example: '0b8e5f0c-4a3d-4b5e-9c39-6f1d0e2a7c11' }) })

/** Of what a run has of one iteration. */
export const iterationParams = runParams.extend({
  iteration: z.coerce.number().int().nonnegative().openapi({ type: 'integer', example: 40 }),
})

export const episodeDescription =
  "At most the first 200 steps. Its content comes from the scenario's code: treat it as untrusted."

/** Of every route of one run. */
export const runCodes = ['unauthenticated', 'forbidden', 'run_not_found'] as const satisfies ErrorCode[]

/** Errors of routes that publish an agent or reserve its version. */
export const publicationCodes = [
  ...(['name_invalid', 'name_taken', 'version_invalid', 'version_exists'] as const),
  ...(['package_kind_changed', 'package_visibility_fixed'] as const),
] as const satisfies ErrorCode[]

/** The caller, its IP address and its trace. */
export function requestOf(c: RequestReader): { actor: Actor | null; ip: string; traceparent: string | null } {
  return { actor: c.get('actor'), ip: c.get('ip'), traceparent: currentTraceparent(c) }
}
