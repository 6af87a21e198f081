import { AgentGymError, errorCatalog } from '@agentgym/contract'
import { type Context, Hono } from 'hono'
import type { Actor } from '../../core/access/authorize.ts'
import { answer, describe } from '../../core/http/answer-error.ts'
import type { Env, RouteRules } from '../../core/http/env.ts'
import { isForPlay } from '../../core/http/page-views.ts'
import { declare, uploadTimeoutMs } from '../../core/http/route.ts'
import type { Services } from '../../core/services.ts'
import {
  deleteTag,
  findReadablePackage,
  type PackageServices,
  publishVersion,
  setTag,
  tagsOf,
} from '../packages/index.ts'
import { type BuiltInReader, builtInReader, type OpenBuiltIn } from './built-in-package.ts'
import { immutable, nothingHere, npmFailures, tokenNeeded } from './npm-errors.ts'
import { finishLogin, logOut, passwordLogin, startLogin } from './npm-login.ts'
import { deprecateByDocument, isPnpm, npmSearch, packageSource } from './npm-packages.ts'
import { type NpmTarget, parseNpmPath, type ReadTarget } from './npm-path.ts'
import { answerAudit, notServed } from './npm-services.ts'
import { documentSlots, type PublishRequest, parsePutDocument } from './publish-document.ts'
import { type VerdaccioReader, verdaccioReader } from './verdaccio-server.ts'

type Npm = {
  services: PackageServices
  verdaccio: VerdaccioReader
  readBuiltIn: BuiltInReader
  inSlot: ReturnType<typeof documentSlots>
}
type NpmContext = Context<Env>

/**
 * Permissions depend on the path, which is parsed here. Clients send tarballs as base64 in JSON: a third larger, plus a
 * manifest.
 */
const npmRules: RouteRules = {
  access: 'anyone',
  bodyLimit: ({ limits }) => Math.ceil((limits.tarballBytes * 4) / 3) + 4 * 2 ** 20,
  timeoutMs: uploadTimeoutMs,
  failureFormat: npmFailures,
}

/**
 * The npm registry at `/npm/`. Verdaccio serves reads of packages, behind our access rules. Writes, and requests about
 * the registry itself, are handled here and never reach it.
 */
export function npmRoutes(services: PackageServices, library?: OpenBuiltIn): Hono<Env> {
  const { config, log } = services
  const report = (error: unknown) => log.error('a request to the npm registry failed', { error: describe(error) })
  const npm = {
    services,
    verdaccio: verdaccioReader(config.publicUrl, report),
    readBuiltIn: builtInReader(library, config.publicUrl),
    inSlot: documentSlots(),
  }
  const routes = new Hono<Env>()
  routes.all('/npm', declare(npmRules), (c) => c.json({ registry: 'AgentGym' }))
  // Uses the raw path, because the router has partly decoded it and the difference matters here.
  const answerNpm = (c: NpmContext) => {
    const path = new URL(c.req.url).pathname.slice('/npm'.length)
    const target = parseNpmPath(path)
    if (path === '/') return c.json({ registry: 'AgentGym' })
    if (target === undefined) throw nothingHere(c)
    return answerTarget(npm, c, target)
  }
  // A named parameter, so that the log has this pattern instead of the token.
  routes.all('/npm/-/user/token/:token', declare(npmRules), answerNpm)
  routes.all('/npm/:path{(?!-/user/token/).*}', declare(npmRules), answerNpm)
  return routes
}

function answerTarget(npm: Npm, c: NpmContext, target: NpmTarget): Response | Promise<Response> {
  if (target.kind === 'service') return answerService(npm, c, target.path)
  if (target.kind === 'tags') return answerTags(npm, c, target)
  if (target.kind === 'revision') throw refuseRevision(c, target.name)
  if (c.req.method === 'GET' || c.req.method === 'HEAD') {
    return npm.readBuiltIn(c, target) ?? readPackage(npm, c, target)
  }
  if (c.req.method === 'PUT' && target.kind === 'package') return putPackage(npm, c, target.name)
  if (c.req.method === 'DELETE') throw immutable(target.name)
  throw nothingHere(c)
}

async function readPackage({ services, verdaccio }: Npm, c: NpmContext, target: ReadTarget): Promise<Response> {
  const userAgent = c.req.header('user-agent') ?? ''
  const method = c.req.method === 'HEAD' ? 'HEAD' : 'GET'
  const client = {
    actor: c.get('actor'),
    ip: c.get('ip'),
    userAgent,
    use: method === 'GET',
    play: isForPlay((name) => c.req.header(name), services.config.publicUrl),
  }
  const source = packageSource(services, target, client)
  const { signal } = c.req.raw
  try {
    return await verdaccio.read(target, { method, header: (name) => c.req.header(name), signal }, source)
  } catch (error) {
    // The client disconnected, which is not a failure of the registry. The status is for the log.
    if (signal.aborted) return new Response(null, { status: 499 })
    if (isPnpm(userAgent) && isForGood(error)) return answer(c, error.toReport(), 403)
    throw error
  }
}

/** Errors that a retry does not fix: a missing purchase, or a take-down. */
function isForGood(error: unknown): error is AgentGymError {
  return error instanceof AgentGymError && [402, 410].includes(errorCatalog[error.code].status)
}

function putPackage({ services, inSlot }: Npm, c: NpmContext, name: string): Promise<Response> {
  const actor = writer(c)
  return inSlot(actor.accountId, async () => {
    const request = parsePutDocument(name, await c.req.text())
    if (request.kind === 'publish') return publish(services, c, actor, name, request.publish)
    await deprecateByDocument(services, name, request.deprecations, { actor, ip: c.get('ip') })
    return c.json({ ok: true, success: true })
  })
}

/**
 * npm prints the header `npm-notice`, so users learn that the version cannot be installed yet before an install fails.
 */
async function publish(
  services: PackageServices,
  c: NpmContext,
  actor: Actor,
  name: string,
  request: PublishRequest,
): Promise<Response> {
  const { version, state } = await publishVersion(services, { ...request, name, actor, ip: c.get('ip') })
  if (state === 'checking')
    c.header('npm-notice', `${name}@${version} is being checked; others can install it once it passes.`)
  return c.json({ ok: true, success: true, id: name, state }, 201)
}

async function answerTags(
  { services }: Npm,
  c: NpmContext,
  { name, tag }: Extract<NpmTarget, { kind: 'tags' }>,
): Promise<Response> {
  const { method } = c.req
  if (method === 'GET' && tag === null) return c.json(await readTags(services, c.get('actor'), name))
  if (tag === null || !['PUT', 'POST', 'DELETE'].includes(method)) throw nothingHere(c)
  const change = { actor: writer(c), name, ip: c.get('ip') }
  if (method === 'DELETE') await deleteTag(services, change, tag)
  else await setTag(services, change, tag, await taggedVersion(c))
  return c.json({ ok: true, success: true })
}

async function readTags({ database }: Services, actor: Actor | null, name: string): Promise<Record<string, string>> {
  const { id } = await findReadablePackage(database.query, actor, name)
  return Object.fromEntries(await tagsOf(database.query, id))
}

/** npm sends the version as a JSON string. */
async function taggedVersion(c: NpmContext): Promise<string> {
  const version: unknown = await c.req.json().catch(() => undefined)
  if (typeof version === 'string') return version
  throw new AgentGymError({ code: 'request_invalid', message: 'The body must be a version, as a JSON string.' })
}

async function answerService({ services }: Npm, c: NpmContext, path: string): Promise<Response> {
  const { method } = c.req
  const audit = await answerAudit(c, path)
  if (audit !== undefined) return audit
  if (method === 'GET' && path === '-/ping') return c.json({})
  if (method === 'GET' && path === '-/whoami') {
    const actor = c.get('actor')
    if (actor === null) throw tokenNeeded()
    return c.json({ username: actor.username })
  }
  if (method === 'GET' && path === '-/v1/search') return npmSearch(services, c)
  if (method === 'POST' && path === '-/v1/login') return startLogin(services, c)
  if (method === 'GET' && path === '-/v1/done') return finishLogin(services, c)
  if (method === 'DELETE' && path.startsWith('-/user/token/')) return logOut(services, c)
  if (path.startsWith('-/user/') && !path.endsWith('/package')) throw passwordLogin(services.config.publicUrl)
  throw notServed(c, path)
}

/** Writes require a token, because a page of another site could make a browser send its cookie. */
function writer(c: NpmContext): Actor {
  const actor = c.get('actor')
  if (actor === null || actor.tokenId === null) throw tokenNeeded()
  return actor
}

/** npm uses paths ending in `-rev/…` to unpublish and to change owners. */
function refuseRevision(c: NpmContext, name: string): AgentGymError {
  return c.req.method === 'PUT' || c.req.method === 'DELETE' ? immutable(name) : nothingHere(c)
}
