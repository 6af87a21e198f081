// @module-tag full
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@agentgym/agent/engine'
import { describeScenario } from '@agentgym/scenario/engine'
import { runCli } from '@agentgym/testkit/command-line'
import { pythonEnvironment, runPython } from '@agentgym/testkit/python'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import cartPole from '../../plugins/cart-pole/src/index.ts'
import support from '../../plugins/customer-support/src/index.ts'
import pendulum from '../../plugins/pendulum/src/index.ts'
import returns from '../../plugins/returns-desk/src/index.ts'
import snake from '../../plugins/snake/src/index.ts'
import memoryMaze from '../../plugins/t-maze/src/index.ts'
import { writeRandomAgent } from '../../runtime/test/random-agent.ts'
import { repositoryRoot } from '../checks/repository-files.ts'
import { standInEngine, standInKubectl } from './stand-in-programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-deploy-'))
const programs = join(folder, 'programs')
const home = join(folder, 'home')
const agents = { 'cart-pole': cartPole, pendulum, snake, support, returns, maze: memoryMaze }
const agentFolder = (name: string) => join(folder, 'agents', name)
const path = `${programs}:${process.env.PATH}`

beforeAll(() => {
  mkdirSync(join(folder, 'agents'))
  mkdirSync(programs)
  for (const [name, definition] of Object.entries(agents)) {
    const description = describeScenario(definition)
    writeRandomAgent(agentFolder(name), name, description, description.memory)
  }
  writeFileSync(
    join(agentFolder('support'), 'package.json'),
    JSON.stringify({ name: '@ann/support', version: '1.2.0' }),
  )
  for (const [name, source] of Object.entries({ docker: standInEngine, kubectl: standInKubectl })) {
    writeFileSync(join(programs, name), `#!${process.execPath}\n${source}`)
    chmodSync(join(programs, name), 0o755)
  }
})
afterAll(async () => {
  await run(['deploy', '@ann/support', '--stop'])
  rmSync(folder, { recursive: true, maxRetries: 5 })
})

describe('on this machine', { timeout: 120_000 }, () => {
  it('starts a server that outlives the command, replaces it, and stops it by its name', async () => {
    const first = await deploySupport([])
    expect(first).toMatchObject({ target: 'local', name: '@ann/support', version: '1.2.0' })
    expect(first.sample.label).toBeTypeOf('string')
    expect(await modelsAt(first.url)).toEqual(['@ann/support'])

    // On the same port, and on another.
    const { port } = new URL(first.url)
    const second = await deploySupport(['--port', port])
    expect([second.url, await modelsAt(second.url)]).toEqual([first.url, ['@ann/support']])
    const third = await deploySupport([])
    expect(await modelsAt(third.url)).toEqual(['@ann/support'])
    await expect(fetch(`${first.url}/healthz`)).rejects.toThrow()

    const stopped = await run(['deploy', '@ann/support@^1', '--stop'])
    expect(stopped.stdout).toContain('Stopped @ann/support')
    await expect(fetch(`${third.url}/healthz`)).rejects.toThrow()
    expect((await run(['deploy', '@ann/support', '--stop'])).stdout).toContain('has no local deployment')
  })

  it('leaves a deployment as it is where the new one cannot listen', async () => {
    const { url } = await deploySupport([])
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const refused = await run(['deploy', agentFolder('support'), '--port', String(port)])
    taken.close()
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('another program listens there')
    expect(await modelsAt(url)).toEqual(['@ann/support'])
  })

  it('clients need the key that the shell has', async () => {
    const { url } = await deploySupport([], { AGENTGYM_AGENT_KEY: 'a secret' })
    expect((await fetch(`${url}/v1/models`)).status).toBe(401)
    expect((await fetch(`${url}/v1/models`, { headers: { authorization: 'Bearer a secret' } })).status).toBe(200)
  })
})

describe('in a container', { timeout: 120_000 }, () => {
  it('builds the same image twice, runs it with a key and without rights, and asks it', async () => {
    const hashes: string[] = []
    for (const _ of [1, 2]) {
      const { status, stdout, stderr } = await run(['deploy', agentFolder('support'), '--to', 'docker', '--port', '0'])
      expect(stderr).toBe('')
      expect(status).toBe(0)
      expect(stdout).toMatch(/@ann\/support@1\.2\.0 serves at http:\/\/127\.0\.0\.1:\d+\n.*Sample call: /)
      hashes.push(hashOf(join(home, 'deployments/ann-support/image')))
    }
    expect(hashes[0]).toBe(hashes[1])
    const [build, , start] = calls('docker').slice(-4)
    expect(build).toEqual(['build', '--tag', 'agentgym/ann-support:1.2.0', join(home, 'deployments/ann-support/image')])
    expect(start).toEqual(expect.arrayContaining(['--read-only', '--tmpfs', '--cap-drop', '127.0.0.1:0:4480']))
    await run(['deploy', '@ann/support', '--stop'])
    stopContainers()
  })

  it('removes a container that does not answer, and shows its log', async () => {
    const environment = { BROKEN: '1' }
    const { status, stderr } = await run(['deploy', agentFolder('support'), '--to', 'docker'], environment)
    expect(status).toBe(1)
    expect(stderr).toMatch(/exec\s+format error/)
    expect(calls('docker').at(-1)).toEqual(['rm', '--force', 'agentgym-ann-support'])
  })

  it('says what is missing, and writes the build context instead', async () => {
    const environment = { PATH: join(folder, 'nothing') }
    const none = await run(['deploy', agentFolder('support'), '--to', 'docker'], environment)
    expect(none.stderr).toContain('he command docker or podman is not on the PATH')
    const out = join(folder, 'context')
    const written = await run(
      ['deploy', agentFolder('support'), '--to', 'docker', '--write-only', '--out', out],
      environment,
    )
    expect(written.stdout).toContain('docker build --tag agentgym/ann-support:1.2.0')
    expect(readFileSync(join(out, 'server/Dockerfile'), 'utf8')).toContain('\nFROM node:24.21.0-bookworm-slim\n')
    expect(readdirSync(join(out, 'server')).sort()).toEqual([
      'Dockerfile',
      'agents',
      'node_modules',
      'package.json',
      'server.mjs',
    ])
    expect(readdirSync(join(out, 'server/node_modules/onnxruntime-node/bin/napi-v6/linux')).sort()).toEqual([
      'arm64',
      'x64',
    ])
  })

  it('builds on another image by its digest', async () => {
    const out = join(folder, 'pinned')
    const words = ['deploy', agentFolder('support'), '--to', 'docker', '--write-only', '--out', out, '--base-image']
    const digest = `registry.example.com:5000/node@sha256:${'0a'.repeat(32)}`
    expect((await run([...words, digest])).stderr).toBe('')
    expect(readFileSync(join(out, 'server/Dockerfile'), 'utf8')).toContain(`\nFROM ${digest}\n`)
    for (const wrong of ['node\nRUN true', 'node@sha256:12', '--platform=x node', '']) {
      expect(await run([...words, wrong])).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('names no image'),
      })
    }
  })

  it('never replaces a folder that it did not write', async () => {
    const precious = join(folder, 'precious')
    mkdirSync(precious)
    writeFileSync(join(precious, 'thesis.txt'), 'years of work')
    const { status, stderr } = await run(['agent', 'export', agentFolder('support'), precious, '--to', 'onnx'])
    expect([status, stderr]).toEqual([2, expect.stringContaining('exists, and this command did not write it')])
    expect(readFileSync(join(precious, 'thesis.txt'), 'utf8')).toBe('years of work')
  })
})

describe('on Kubernetes', { timeout: 120_000 }, () => {
  const image = 'registry.example.com/team/support:1.2.0'

  it('builds, pushes, makes the secret once, applies, waits, and asks the pods', async () => {
    const words = ['deploy', agentFolder('support'), '--to', 'kubernetes', '--image', image, '--namespace', 'shop']
    const first = await run(words)
    expect(first.stderr).toBe('')
    expect(first.stdout).toContain('@ann/support@1.2.0 serves at http://ann-support.shop.svc')
    const verbs = calls('kubectl').map(([, , verb]) => verb)
    expect(verbs).toEqual(['get', 'create', 'apply', 'rollout', 'port-forward'])
    expect(calls('docker').at(-1)).toEqual(['push', image])
    await run(words)
    expect(calls('kubectl').map(([, , verb]) => verb)).toEqual([...verbs, 'get', 'apply', 'rollout', 'port-forward'])
    // Secrets travel by standard input alone.
    expect(JSON.stringify(calls('kubectl'))).not.toContain(readFileSync(join(programs, 'secret'), 'utf8'))
  })

  it('writes manifests of pods that may connect to nothing and write to one folder', async () => {
    const out = join(folder, 'cluster')
    const words = ['deploy', agentFolder('support'), '--to', 'kubernetes', '--write-only', '--out', out]
    expect((await run(words)).stderr).toContain('needs --image')
    await run([...words, '--image', image, '--replicas', '3'])
    const manifests = parseAllDocuments(readFileSync(join(out, 'kubernetes.yaml'), 'utf8')).map((each) => each.toJS())
    expect(manifests.map(({ kind }) => kind)).toEqual(['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'])
    const [{ spec }, , , policy] = manifests
    expect(spec.replicas).toBe(3)
    expect(spec.template.spec.securityContext).toMatchObject({ runAsNonRoot: true })
    expect(spec.template.spec.containers[0]).toMatchObject({
      image,
      securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    })
    expect(spec.template.spec.containers[0].volumeMounts).toEqual([{ name: 'data', mountPath: '/data' }])
    expect(policy.spec.egress).toEqual([])
    for (const { metadata } of manifests) expect(metadata.name).toBe('ann-support')
  })
})

describe('for other runtimes of ONNX', { timeout: 300_000 }, () => {
  it.each(Object.keys(agents))('%s: README and example say what its model does, in Python and Node', async (name) => {
    const out = join(folder, 'onnx', name)
    const { status, stderr } = await run(['agent', 'export', agentFolder(name), out, '--to', 'onnx'])
    expect([status, stderr]).toEqual([0, ''])
    const readme = readFileSync(join(out, 'README.md'), 'utf8')
    const { inputs, outputs, action } = JSON.parse(readFileSync(join(out, 'example.json'), 'utf8'))
    for (const tensor of [...Object.keys(inputs), ...Object.keys(outputs)]) expect(readme).toContain(`\`${tensor}\``)
    expect(existsSync(join(out, 'tokenizer.mjs'))).toBe(['support', 'returns'].includes(name))
    const said = `its action is ${JSON.stringify(action)}`
    expect(await runPython(await pythonEnvironment('agent'), [join(out, 'sample.py')])).toContain(
      'The outputs are those',
    )
    expect(runNode(out)).toContain(said)
  })
})

type Printed = { url: string; sample: { label: string | null }; target: string }

async function deploySupport(words: string[], environment: Record<string, string> = {}): Promise<Printed> {
  const all = [
    'deploy',
    agentFolder('support'),
    ...(words.includes('--port') ? [] : ['--port', '0']),
    ...words,
    '--json',
  ]
  const { status, stderr, lines } = await run(all, environment)
  expect([status, stderr]).toEqual([0, ''])
  return lines[0] as Printed
}

function run(words: string[], environment: Record<string, string> = {}) {
  return runCli(words, { cwd: folder, environment: { AGENTGYM_HOME: home, PATH: path, ...environment } })
}

async function modelsAt(url: string): Promise<string[]> {
  return ((await (await fetch(`${url}/healthz`)).json()) as { models: string[] }).models
}

/** Node finds the package where this repository has it. */
function runNode(out: string): string {
  symlinkSync(join(repositoryRoot, 'sdk/agent/node_modules'), join(out, 'node_modules'))
  return execFileSync(process.execPath, [join(out, 'sample.mjs')], { encoding: 'utf8' })
}

function hashOf(root: string): string {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name)).sort()
  return sha256(Buffer.concat(paths.flatMap((file) => [Buffer.from(file), readFileSync(file)])))
}

/** The command lines that a stand-in was called with. */
function calls(program: string): string[][] {
  const text = readFileSync(join(programs, `${program}.calls`), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function stopContainers(): void {
  for (const file of readdirSync(programs).filter((name) => name.endsWith('.pid'))) {
    process.kill(Number(readFileSync(join(programs, file), 'utf8')))
    rmSync(join(programs, file))
  }
}
