import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@agentgym/testkit/ports'

export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  [field: string]: unknown
}

export type Applied = { status: number; message: string; warnings: string[] }

export type ApiServer = {
  /** Creates or changes an object, as `kubectl apply --server-side` does. Unknown fields are refused. */
  apply(manifest: Manifest, namespace: string): Promise<Applied>
  close(): Promise<void>
}

type Answer = { status: number; text: string; warnings: string[] }

const patienceMs = 120_000

/**
 * Kubernetes without nodes: etcd, and the API server in the folder `programs` (build-kubernetes.sh). It checks, defaults and
 * stores objects as a cluster does, and runs nothing. `folder`: empty, for their data.
 */
export async function startApiServer(programs: string, folder: string): Promise<ApiServer> {
  const [client, peer, port] = await freePorts(3)
  const etcdUrl = `http://127.0.0.1:${client}`
  const token = randomBytes(16).toString('hex')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keyFile = join(folder, 'accounts.key')
  mkdirSync(folder, { recursive: true })
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(folder, 'tokens.csv'), `${token},admin,admin,system:masters\n`)
  const running = [
    start('etcd', folder, [
      ...[
        `--data-dir=${join(folder, 'etcd')}`,
        `--listen-client-urls=${etcdUrl}`,
        `--advertise-client-urls=${etcdUrl}`,
      ],
      ...[`--listen-peer-urls=http://127.0.0.1:${peer}`, `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`],
      ...[`--initial-cluster=default=http://127.0.0.1:${peer}`, '--log-level=error'],
    ]),
    start(join(programs, 'kube-apiserver'), folder, [
      ...[`--etcd-servers=${etcdUrl}`, '--bind-address=127.0.0.1', `--secure-port=${port}`],
      ...[`--cert-dir=${join(folder, 'certificates')}`, `--token-auth-file=${join(folder, 'tokens.csv')}`],
      ...[`--service-account-key-file=${keyFile}`, `--service-account-signing-key-file=${keyFile}`],
      ...['--service-account-issuer=https://kubernetes.default.svc', '--service-cluster-ip-range=10.0.0.0/24'],
      ...['--authorization-mode=RBAC', '-v=0'],
    ]),
  ]
  const close = async () => {
    for (const child of running.reverse()) await stop(child)
  }
  const ask = (method: string, path: string, body?: object): Promise<Answer> =>
    send({ method, path, port, token, certificate: join(folder, 'certificates/apiserver.crt') }, body)
  try {
    await until(async () => {
      const ended = running.find(({ exitCode }) => exitCode !== null)
      if (ended !== undefined)
        throw new Error(`${ended.spawnfile} ended with ${ended.exitCode}: see its log in ${folder}`)
      return (await ask('GET', '/readyz')).status === 200
    })
  } catch (error) {
    await close()
    throw error
  }
  return { apply: (manifest, namespace) => apply(ask, manifest, namespace), close }
}

async function apply(
  ask: (method: string, path: string, body?: object) => Promise<Answer>,
  manifest: Manifest,
  namespace: string,
): Promise<Applied> {
  const { apiVersion, kind, metadata } = manifest
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  let resource: { name: string; namespaced: boolean } | undefined
  // A kind that was just defined is served a moment later.
  await until(async () => {
    const { status, text } = await ask('GET', group)
    if (status !== 200) return false
    const { resources } = JSON.parse(text) as { resources: { kind: string; name: string; namespaced: boolean }[] }
    resource = resources.find((one) => one.kind === kind && !one.name.includes('/'))
    return resource !== undefined
  })
  if (resource === undefined) throw new Error(`no ${apiVersion} ${kind}`)
  const place = resource.namespaced ? `${group}/namespaces/${namespace}` : group
  const query = 'fieldManager=helm&fieldValidation=Strict'
  const { status, text, warnings } = await ask('PATCH', `${place}/${resource.name}/${metadata.name}?${query}`, manifest)
  const { message = '' } = JSON.parse(text) as { message?: string }
  return { status, message, warnings }
}

function start(program: string, folder: string, parameters: string[]): ChildProcess {
  const log = openSync(join(folder, `${basename(program)}.log`), 'a')
  const child = spawn(program, parameters, { stdio: ['ignore', log, log] })
  closeSync(log)
  child.on('error', () => {})
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function until(done: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; ; ) {
    const [result] = await Promise.allSettled([done()])
    if (result.status === 'fulfilled' && result.value) return
    if (Date.now() > end)
      throw new Error('the API server is not ready', {
        cause: result.status === 'rejected' ? result.reason : undefined,
      })
    await sleep(300)
  }
}

type Request = { method: string; path: string; port: number; token: string; certificate: string }

async function send({ method, path, port, token, certificate }: Request, body?: object): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/apply-patch+yaml' }
  const headers = { authorization: `Bearer ${token}`, ...type }
  const answer = Promise.withResolvers<Answer>()
  const sent = request(
    { host: '127.0.0.1', port, method, path, headers, ca: readFileSync(certificate) },
    (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('error', answer.reject)
      response.on('end', () => {
        const warnings = [response.headers.warning ?? []].flat()
        answer.resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString(), warnings })
      })
    },
  )
  sent.on('error', answer.reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return answer.promise
}
