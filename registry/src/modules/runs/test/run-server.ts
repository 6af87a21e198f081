import { randomBytes } from 'node:crypto'
import { type Run, runSchema } from '@agentgym/contract'
import { type Answer, type Call as AnyCall, callAt, tokenOf as tokenIn } from '@agentgym/testkit/registry'
import type { TestServices } from '@agentgym/testkit/services'
import { agentTarball, goodAgent } from '../../../../../testdata/tarballs/good-agent.ts'
import { createApp } from '../../../app/app.ts'
import { type HttpListener, listenHttp } from '../../../app/http-listener.ts'
import type { Actor, Scope } from '../../../core/access/authorize.ts'
import { putMember } from '../../../core/access/memberships.store.ts'
import type { Database } from '../../../core/database/database.ts'
import type { Role } from '../../../core/database/schema.ts'
import type { ServerConfig } from '../../../core/services.ts'
import { upload } from '../../packages/testing/publishing.ts'
import { rpcRoutes } from '../rpc.routes.ts'
import { runDataRoutes } from '../run-data.routes.ts'
import { requestCancel } from '../run-state.ts'
import { runRoutes } from '../runs.routes.ts'
import { shareRunRoutes } from '../share-run.routes.ts'
import { openTraining, type Training } from '../testing/train.ts'

export type { Answer }
export type Call = Omit<AnyCall, 'content'> & { body?: AnyCall['content'] }

export type RunServer = {
  url: string
  training: Training
  /** Of the scenario's owner, who may do everything. */
  token: string
  call(method: string, path: string, call?: Call): Promise<Answer>
  close(): Promise<void>
}

/** The routes of runs behind the whole application, over a real socket; runs are played by `testing/train.ts`. */
export async function startRunServer(database: Database, config: Partial<ServerConfig> = {}): Promise<RunServer> {
  const listener = await listenHttp('127.0.0.1', 0)
  const url = `http://localhost:${listener.port}`
  const training = await openTraining(database, { publicUrl: url, ...config })
  serveRuns(training.services, listener)
  return {
    url,
    training,
    token: await tokenOf(training, training.ada),
    call: (method, path, { body, ...call } = {}) => {
      const headers = body === undefined ? call.headers : { 'content-type': 'application/json', ...call.headers }
      return callAt(url, method, path, {
        ...call,
        ...(body !== undefined && { content: body }),
        headers: headers ?? {},
      })
    },
    close: async () => {
      await listener.drain(0)
      await training.services.remove()
    },
  }
}

/** The same routes once more, as another replica has them. */
export function serveRuns(services: TestServices, listener: HttpListener): void {
  const routes = [runRoutes(services), runDataRoutes(services), shareRunRoutes(services), rpcRoutes(services)]
  listener.answerWith(createApp(services, { routes }).fetch)
}

export function tokenOf(
  { services }: Pick<Training, 'services'>,
  actor: Actor,
  scopes?: readonly Scope[],
): Promise<string> {
  return tokenIn(services.database, actor, scopes)
}

/** An organization with these members. */
export async function createOrganization(
  { query }: Database,
  members: [Actor, Role][],
): Promise<{ id: string; username: string }> {
  const username = `o${randomBytes(6).toString('hex')}`
  const { id } = await query
    .insertInto('accounts')
    .values({
      kind: 'organisation',
      username,
      username_canonical: username,
      display_name: null,
      email: null,
      email_verified_at: null,
      password_hash: null,
      disabled_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const [{ accountId }, role] of members) await putMember(query, id, accountId, role)
  return { id, username }
}

/** The run in an answer, validated against its schema. */
export function runIn({ status, body, text }: Answer): Run {
  if (status >= 300) throw new Error(`${status}: ${text}`)
  return runSchema.parse(body)
}

/** Cancels every waiting run of any account, so that a worker gets the next run that the test starts. */
export async function cancelWaiting({ services, queue }: Training): Promise<void> {
  const { database, config } = services
  const waiting = await database.query.selectFrom('training_runs').select('id').where('state', '=', 'queued').execute()
  for (const { id } of waiting)
    await database.transaction((query) => requestCancel(query, { queue, currency: config.training.currency }, id))
}

/** Row counts of the tables that a start writes: unchanged by a start that is refused. */
export async function rowsWritten({ execute }: Database): Promise<Record<string, unknown>> {
  const tables = ['training_runs', 'run_events', 'training_charges', 'evaluations', 'audit', 'jobs']
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as "${table}"`)
  return (await execute(`select ${counts.join(', ')}`)).rows[0]
}

/** Publishes versions of an agent without the checks of a worker, which other tests are about. Returns its name. */
export async function publishAgent(
  { services }: Training,
  actor: Actor,
  { base, versions, algorithm = 'a2c' }: { base: string; versions: string[]; algorithm?: string },
): Promise<string> {
  const name = `@${actor.username}/${base}`
  for (const version of versions) {
    const tarball = agentTarball({ name, version }, { algorithm, policy: { ...goodAgent.policy } })
    await upload(services, actor, version, { base, tarball })
  }
  await services.database.query
    .updateTable('versions')
    .set({ state: 'published', published_at: new Date() })
    .where('package_id', '=', (query) => query.selectFrom('packages').select('id').where('name', '=', name))
    .execute()
  return name
}
