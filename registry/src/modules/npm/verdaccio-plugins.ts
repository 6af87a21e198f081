import { AsyncLocalStorage } from 'node:async_hooks'
import { PassThrough, type Readable } from 'node:stream'
import { AgentGymError, errorCatalog } from '@agentgym/contract'
import { type Outage, outageIn } from '../../core/dependencies/outage.ts'
import { isKnownTag } from '../../core/http/entity-tag.ts'
import type { BridgedResponse } from './node-bridge.ts'

/** A reader's view of one package. The only interface of Verdaccio's plugins to the registry. */
export type NpmSource = {
  /** Of the reader; null if anonymous. */
  username: string | null
  name: string
  /** Throws `package_not_found` if the package is not visible to the reader. */
  assertReadable(): Promise<void>
  packument(): Promise<Packument>
  /** Undefined if the file does not exist for this reader. */
  tarball(file: string): Promise<NpmTarball | undefined>
}

export type NpmTarball = {
  body: Readable
  size: number
  integrity: string
  /** Called when it has been read completely. */
  downloaded(): void
}

export type Packument = {
  name: string
  'dist-tags': Record<string, string>
  versions: Record<string, Record<string, unknown>>
  [field: string]: unknown
}

/** The current request. `report` logs bugs; `refused` is the error for the reader. */
export type Reading = {
  source: NpmSource
  answer: BridgedResponse
  report(error: unknown): void
  refused?: AgentGymError | Outage
}

/** Verdaccio does not pass the user to its storage, so the current request supplies it. */
export const currentReading = new AsyncLocalStorage<Reading>()

function reading(name: string): Reading {
  const current = currentReading.getStore()
  if (current === undefined || current.source.name !== name)
    throw new Error(`Verdaccio asked for ${name} outside of a request for it`)
  return current
}

type Callback<Value> = (error: Error | null, value?: Value) => void
type RemoteUser = { name?: string; groups: string[]; real_groups: string[] }
type Helpers = {
  createAnonymousRemoteUser(): RemoteUser
  createRemoteUser(name: string, groups: string[]): RemoteUser
}
type PluginRequest = { remote_user?: RemoteUser }

/** Calls back with the result of a promise. An exception in the callback fails only that request. */
function settle<Value>(current: Reading, promise: Promise<Value>, callback: Callback<Value>): void {
  promise
    .then(
      (value) => callback(null, value),
      (error) => callback(asHttpError(current, error)),
    )
    .catch((error) => {
      current.report(error)
      current.answer.fail(error)
    })
}

/**
 * Verdaccio reads `status` (HTTP) and `code` (storage) of errors and sends only their message: so our own errors and
 * outages are kept and sent instead. Bugs are only logged.
 */
function asHttpError(current: Reading, error: unknown): Error {
  const outage = outageIn(error)
  if (outage !== undefined) {
    current.refused = outage
    return Object.assign(new Error(outage.message), { status: 503, code: 503 })
  }
  if (error instanceof AgentGymError) {
    const { status } = errorCatalog[error.code]
    if (status >= 500) current.report(error)
    current.refused = error
    return Object.assign(new Error([error.message, error.hint].filter(Boolean).join(' ')), { status, code: status })
  }
  current.report(error)
  return Object.assign(new Error('Internal server error. Try again.'), { status: 500, code: 500 })
}

const refused = (what: string) =>
  Object.assign(new Error(`Verdaccio only reads here; it was asked to ${what}`), { status: 403, code: 403 })

/** Our accounts decide who may read. Writes through Verdaccio are always denied. */
export function verdaccioAuth() {
  return {
    apiJWTmiddleware: (helpers: Helpers) => (request: PluginRequest, _response: unknown, next: () => void) => {
      const username = currentReading.getStore()?.source.username ?? null
      request.remote_user =
        username === null ? helpers.createAnonymousRemoteUser() : helpers.createRemoteUser(username, [])
      next()
    },
    authenticate(_username: string, _password: string, callback: Callback<false>): void {
      callback(null, false)
    },
    allow_access(_user: RemoteUser, { name }: { name: string }, callback: Callback<boolean>): void {
      const current = reading(name)
      settle(
        current,
        current.source.assertReadable().then(() => true),
        callback,
      )
    },
    allow_publish(_user: RemoteUser, _package: unknown, callback: Callback<boolean>): void {
      callback(refused('publish'))
    },
    allow_unpublish(_user: RemoteUser, _package: unknown, callback: Callback<boolean>): void {
      callback(refused('unpublish'))
    },
  }
}

/** Reads packuments and tarballs for the current request. Refuses every write. */
export function verdaccioStorage(secret: string) {
  return {
    getSecret: async () => secret,
    setSecret: async () => {},
    get: (callback: Callback<string[]>) => callback(null, []),
    search: (_onPackage: unknown, onEnd: () => void) => onEnd(),
    add: (_name: string, callback: Callback<void>) => callback(refused('add a package')),
    remove: (_name: string, callback: Callback<void>) => callback(refused('remove a package')),
    getPackageStorage: (name: string) => packageStorage(reading(name)),
  }
}

function packageStorage(current: Reading) {
  const refuse =
    (what: string) =>
    (...parameters: unknown[]) => {
      const callback = parameters.findLast((parameter) => typeof parameter === 'function')
      ;(callback as Callback<void> | undefined)?.(refused(what))
    }
  return {
    readPackage(_name: string, callback: Callback<Packument>): void {
      settle(current, current.source.packument().then(withoutGuessedLatest), callback)
    },
    readTarball: (file: string) => readTarball(current, file),
    createPackage: refuse('create a package'),
    savePackage: refuse('save a package'),
    updatePackage: refuse('update a package'),
    deletePackage: refuse('delete a file'),
    removePackage: refuse('remove a package'),
    writeTarball(): Readable {
      throw refused('write a tarball')
    },
  }
}

/**
 * Without a `latest` tag, Verdaccio would set it to the highest version, even a prerelease. A non-enumerable value
 * prevents this without appearing in lists or JSON.
 */
function withoutGuessedLatest(packument: Packument): Packument {
  const tags = { ...packument['dist-tags'] }
  if (tags.latest === undefined) Object.defineProperty(tags, 'latest', { value: 'none', enumerable: false })
  return { ...packument, 'dist-tags': tags }
}

/**
 * Verdaccio waits for `open`, then pipes. It neither closes its source when the client disconnects nor aborts on
 * errors.
 */
function readTarball(current: Reading, file: string): Readable {
  const { source, answer } = current
  const { response } = answer
  const stream = Object.assign(new PassThrough(), { abort: () => {} })
  const open = async () => {
    const found = await source.tarball(file)
    if (found === undefined) throw Object.assign(new Error(`File ${file} does not exist.`), { status: 404, code: 404 })
    const { body, size, integrity, downloaded } = found
    const etag = `"${integrity}"`
    response.setHeader('ETag', etag)
    response.setHeader('Cache-Control', 'private, max-age=31536000, immutable')
    const known = isKnownTag(response.req.headers['if-none-match'], etag)
    if (known) response.statusCode = 304
    else stream.emit('content-length', size)
    stream.emit('open')
    if (known || response.req.method === 'HEAD') {
      body.destroy()
      stream.end()
      return
    }
    answer.body.once('close', () => body.destroy())
    body.once('error', (error) => {
      current.report(error)
      answer.fail(error)
    })
    body.once('end', downloaded)
    body.pipe(stream)
  }
  open().catch((error) => {
    const status = (error as { status?: number }).status
    stream.emit('error', status === undefined ? asHttpError(current, error) : error)
  })
  return stream
}
