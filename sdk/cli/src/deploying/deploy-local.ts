import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseJson } from '@agentgym/contract'
import { z } from 'zod'
import { writePrivateFile } from '../account/write-private-file.ts'
import { type DeployedAgent, writeDeployment } from './deployment-folder.ts'
import { deploymentFailed, type SampleCall, tryDeployment } from './try-deployment.ts'

export type LocalDeployment = { name: string; version: string | null; url: string; pid: number }

const deploymentSchema = z.object({
  name: z.string(),
  version: z.string().nullable(),
  url: z.string(),
  pid: z.int().positive(),
})

export type Deployed = { deployment: LocalDeployment; sample: SampleCall; log: string }

export type LocalOptions = {
  /** Where the deployment and what is known of it are kept. */
  place: string
  port: number
  key: string | undefined
}

/**
 * Starts a server of the agent that outlives this command. A deployment of the same name is replaced only after the new one
 * has answered a sample call; where both want one port, the new one answers on another first.
 */
export async function deployLocally(agent: DeployedAgent, options: LocalOptions): Promise<Deployed> {
  const { place, port, key } = options
  const next = join(place, 'next')
  const log = join(place, 'server.log')
  await writeDeployment(next, agent, { platform: process.platform, processors: [process.arch] })
  const before = await readDeployment(place)
  const samePort = before !== null && new URL(before.url).port === String(port)
  const trial = await startAndTry(agent, next, { port: samePort ? 0 : port, key, log: join(place, 'next.log') })
  if (samePort) await end(trial.pid)
  await stopLocal(place)
  await rm(join(place, 'server'), { recursive: true, force: true })
  await rename(next, join(place, 'server'))
  await rename(join(place, 'next.log'), log)
  const started = samePort ? await startAndTry(agent, join(place, 'server'), { port, key, log }) : trial
  const { url, pid, sample } = started
  const deployment = { name: agent.name, version: agent.version, url, pid }
  await writePrivateFile(join(place, 'deployment.json'), `${JSON.stringify(deployment)}\n`)
  return { deployment, sample, log }
}

async function startAndTry(agent: DeployedAgent, folder: string, options: Start) {
  const { url, pid } = await start(folder, options)
  try {
    const whyEnded = async () => (isAlive(pid) ? null : await readLog(options.log))
    return { url, pid, sample: await tryDeployment(agent, { url, key: options.key }, whyEnded) }
  } catch (error) {
    await end(pid)
    throw error
  }
}

/** Ends the deployment there, if one runs; what it was. */
export async function stopLocal(place: string): Promise<LocalDeployment | null> {
  const known = await readDeployment(place)
  if (known === null) return null
  // The process may have ended long ago, and its number be another's: only who answers for this agent is ended.
  if (isAlive(known.pid) && (await answersFor(known))) await end(known.pid)
  await rm(join(place, 'deployment.json'), { force: true })
  return known
}

async function readDeployment(place: string): Promise<LocalDeployment | null> {
  const text = await readFile(join(place, 'deployment.json'), 'utf8').catch(() => '')
  return deploymentSchema.safeParse(parseJson(text)).data ?? null
}

async function answersFor({ url, name }: LocalDeployment): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`)
    const { models } = z.object({ models: z.array(z.string()) }).parse(await response.json())
    return models.includes(name)
  } catch {
    return false
  }
}

const eventSchema = z.object({ event: z.literal('listening'), url: z.string() })

type Start = { port: number; key: string | undefined; log: string }

/** Resolves once the server says where it listens. */
async function start(folder: string, { port, key, log }: Start): Promise<{ url: string; pid: number }> {
  const file = openSync(log, 'w', 0o600)
  const child = spawn(process.execPath, [join(folder, 'server.mjs')], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', file, file],
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      AGENTGYM_ENCODERS: join(folder, 'encoders'),
      AGENTGYM_HOME: join(folder, '..', 'home'),
      ...(key === undefined ? {} : { AGENTGYM_AGENT_KEY: key }),
    },
  })
  closeSync(file)
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  child.once('error', () => {
    ended = true
  })
  for (;;) {
    const text = await readLog(log)
    const url = text.split('\n').flatMap((line) => eventSchema.safeParse(parseJson(line)).data?.url ?? [])[0]
    if (url !== undefined && child.pid !== undefined) {
      child.unref()
      return { url, pid: child.pid }
    }
    if (ended) throw deploymentFailed(`did not start: ${text.trim() || 'it printed nothing'}`, `Its log: ${log}`)
    await delay(20)
  }
}

function readLog(log: string): Promise<string> {
  return readFile(log, 'utf8').catch(() => '')
}

/** SIGTERM lets calls in progress end; what has not ended then is killed. */
async function end(pid: number): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
  }
  signal('SIGTERM')
  for (let waited = 0; isAlive(pid) && waited < 10_000; waited += 20) await delay(20)
  if (isAlive(pid)) signal('SIGKILL')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
