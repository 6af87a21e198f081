import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startJob } from '../../src/sandbox/start-job.ts'
import { machineWalls, type Walls, wallsFor } from '../../src/sandbox/walls.ts'

const isRoot = process.getuid?.() === 0
/** An ordinary user of this machine, and the one that root's job becomes. */
const ordinary = 1_500_000_001
const jobUser = 1_600_000_007

let folder: string
let intruder: string
let servers: Server[]

beforeAll(async () => {
  // Everybody may enter and read: only the walls keep a job out.
  folder = mkdtempSync(path.join(tmpdir(), 'agentgym-walls-test-'))
  chmodSync(folder, 0o755)
  intruder = path.join(folder, 'intruder')
  const source = fileURLToPath(new URL('intruder.cc', import.meta.url))
  execFileSync('c++', ['-std=c++17', '-O0', '-o', intruder, source])
  writeFileSync(path.join(folder, 'secret'), 'secret')
  servers = await Promise.all(['0', path.join(folder, 'socket'), `\0${path.basename(folder)}`].map(listen))
  chmodSync(path.join(folder, 'socket'), 0o777)
})

afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

function listen(at: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve) =>
    server.listen(at === '0' ? { port: 0, host: '127.0.0.1' } : { path: at }, () => resolve(server)),
  )
}

/**
 * What the intruder could do behind these walls, beside a process of the same user (by default: this one) that holds a
 * secret.
 */
async function intrude(walls: Walls, user?: number, network = false): Promise<Map<string, string>> {
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
  const [file, ...parameters] = [...as, 'sleep', '600']
  const victim = spawn(file, parameters, { env: { PATH: process.env.PATH, SECRET: 'secret' } })
  const address = servers[0].address()
  const port = typeof address === 'object' ? String(address?.port) : ''
  const work = path.join(folder, 'work')
  const command = walls.wrap({
    command: [
      intruder,
      String(isRoot && user === undefined ? jobUser : 0),
      String(victim.pid),
      port,
      path.join(folder, 'socket'),
    ].concat([path.basename(folder), path.join(folder, 'secret')]),
    readable: [intruder],
    folder: work,
    network,
  })
  const jobFolder = mkdtempSync(path.join(tmpdir(), 'agentgym-walls-job-'))
  const job = startJob(command, jobFolder, {})
  try {
    const said = Promise.all([text(job.child.stdout as never), text(job.child.stderr as never)])
    await job.confine(1_024)
    const [output, errors] = await said
    expect(errors).toBe('')
    const rows = output
      .trim()
      .split('\n')
      .map((line) => line.split('\t'))
    return new Map(rows.map(([what, answer, reason]) => [what, reason ? `${answer} (${reason})` : answer]))
  } finally {
    victim.kill('SIGKILL')
    await job.killed()
    rmSync(jobFolder, { recursive: true, force: true })
  }
}

const granted = (rows: Map<string, string>) =>
  [...rows].filter(([, answer]) => !answer.startsWith('no')).map(([what]) => what)

describe('native code in the place of a job', () => {
  test('can reach nothing outside where no wall is missing, under a worker of this user', async () => {
    await expectHeld(await machineWalls())
  })

  test('can reach nothing outside where no wall is missing, under a worker of an ordinary user', async () => {
    if (isRoot) await expectHeld(await wallsFor(ordinary), ordinary)
    else await expectHeld(await machineWalls())
  })

  test('of a run on the environment of the user reaches sockets, and nothing else', async () => {
    const walls = await machineWalls()
    const reached = granted(await intrude(walls, undefined, true))
    expect(reached).toContain('connect to a server on this machine')
    if (walls.missing.length > 0) return
    // Sockets of the network, and no file: a Unix socket in the file system stays out of reach.
    expect(reached.filter((what) => !/network|server|netlink|vsock|abstract/.test(what))).toEqual([])
  })

  test('can reach much of it without walls', async () => {
    const none: Walls = {
      ...(await machineWalls()),
      wrap: ({ command }) => ({ command: [...command], bubblewrap: false, network: false }),
    }
    expect(granted(await intrude(none))).toEqual(
      expect.arrayContaining([
        'read a file that everybody may read',
        'see other processes',
        'write into /dev/shm',
        'connect to a server on this machine',
        'connect to a Unix socket',
        'connect to an abstract Unix socket',
        'gain privileges by a program',
      ]),
    )
  })
})

/** What a machine says of its walls is true: the intruder gets nowhere exactly where none is missing. */
async function expectHeld(walls: Walls, user?: number): Promise<void> {
  const rows = await intrude(walls, user)
  expect(rows.size).toBe(37)
  if (walls.missing.length === 0) expect(granted(rows)).toEqual([])
  else expect(granted(rows)).not.toEqual([])
  expect(walls.reason === null).toBe(walls.missing.length === 0)
}
