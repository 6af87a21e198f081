import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { publishPackage } from '@agentgym/client'
import { packScenario } from '@agentgym/testkit/packages'
import { signUpAt } from '@agentgym/testkit/people'
import { isLong } from '@agentgym/testkit/tier'
import { afterAll, describe, expect, it } from 'vitest'
import { readRepositoryFile } from '../checks/repository-files.ts'
import { workerSeccompProfile } from './worker-seccomp.ts'

/** What `build.sh` wrote; without it there is nothing to run. */
const images = process.env.AGENTGYM_IMAGES

it('the profile of system calls is that of the worker as it is', () => {
  expect(JSON.parse(readRepositoryFile('infra/images/worker-seccomp.json'))).toEqual(workerSeccompProfile())
})

if (isLong && images !== undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'agentgym-containers-'))
  const running: { name: string; child: ChildProcess }[] = []
  const graceMs = 20_000
  afterAll(async () => {
    await Promise.all(
      running.map(async ({ name, child }) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        // Its own test says whether it ends by itself; here it ends in any case.
        const end = setTimeout(() => spawnSync('runc', ['delete', '--force', name]), graceMs)
        await ended
        clearTimeout(end)
      }),
    )
    rmSync(folder, { recursive: true, maxRetries: 5 })
  }, 300_000)

  /** The file system of an image: its layers, one over the other. */
  const unpacked = new Map<string, string>()
  const rootOf = (image: string): string => {
    const known = unpacked.get(image)
    if (known !== undefined) return known
    const [archive, root] = [join(folder, `${image}-archive`), join(folder, image)]
    for (const path of [archive, root]) mkdirSync(path)
    execFileSync('tar', ['--extract', '--file', join(images, `${image}.tar`), '--directory', archive])
    const [{ Config, Layers }] = JSON.parse(readFileSync(join(archive, 'manifest.json'), 'utf8'))
    for (const layer of Layers) execFileSync('tar', ['--extract', '--file', join(archive, layer), '--directory', root])
    writeFileSync(join(folder, `${image}.json`), readFileSync(join(archive, Config)))
    rmSync(archive, { recursive: true })
    unpacked.set(image, root)
    return root
  }

  type Profile = { defaultAction: string; syscalls: object[] }
  const workerProfile: Profile = JSON.parse(readRepositoryFile('infra/images/worker-seccomp.json'))
  /** What engines' own profiles have in common here: no namespaces. */
  const usualProfile: Profile = {
    defaultAction: 'SCMP_ACT_ALLOW',
    syscalls: [
      {
        names: ['unshare', 'setns', 'mount', 'pivot_root'],
        action: 'SCMP_ACT_ERRNO',
        errnoRet: 1,
      },
      {
        names: ['clone'],
        action: 'SCMP_ACT_ERRNO',
        errnoRet: 1,
        args: [{ index: 0, value: 0x10000000, valueTwo: 0x10000000, op: 'SCMP_CMP_MASKED_EQ' }],
      },
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
    ],
  }

  type Options = {
    words?: string[]
    environment: Record<string, string>
    profile: Profile
    /** Paths of /proc that engines hide from containers. */
    masked: boolean
  }

  /** Runs an image by runc as its README says: its own user, no capabilities, nothing to write to but /data and /tmp. */
  const start = (image: 'server' | 'worker', { words, environment, profile, masked }: Options) => {
    const root = rootOf(image)
    const { config } = JSON.parse(readFileSync(join(folder, `${image}.json`), 'utf8'))
    const bundle = mkdtempSync(join(folder, 'bundle-'))
    const [uid, gid] = config.User.split(':').map(Number)
    const tmpfs = (destination: string, options: string[]) => ({ destination, type: 'tmpfs', source: 'tmpfs', options })
    const own = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const names = new Set(Object.keys(environment))
    const specification = {
      ociVersion: '1.0.2',
      process: {
        user: { uid, gid },
        args: [...config.Entrypoint, ...(words ?? config.Cmd)],
        env: [...config.Env.filter((each: string) => !names.has(each.split('=')[0])), ...own],
        cwd: config.WorkingDir,
        capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
        noNewPrivileges: true,
      },
      root: { path: root, readonly: true },
      hostname: image,
      mounts: [
        { destination: '/proc', type: 'proc', source: 'proc' },
        tmpfs('/dev', ['nosuid', 'mode=755']),
        { destination: '/sys', type: 'sysfs', source: 'sysfs', options: ['ro', 'nosuid', 'noexec', 'nodev'] },
        tmpfs('/tmp', ['nosuid', 'nodev', 'mode=1777']),
        tmpfs('/data', ['nosuid', 'nodev', 'mode=0700', `uid=${uid}`, `gid=${gid}`]),
      ],
      linux: {
        // The network of this machine, so that the test reaches the server.
        namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        seccomp: { architectures: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'], ...profile },
        ...(masked
          ? {
              maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
              readonlyPaths: ['/proc/sys', '/proc/bus'],
            }
          : {}),
      },
    }
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification))
    const name = `agentgym-test-${process.pid}-${running.length}`
    const child = spawn('runc', ['run', '--bundle', bundle, name], { stdio: ['ignore', 'pipe', 'pipe'] })
    running.push({ name, child })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    return { child, output: () => output }
  }

  const freePort = async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    return port
  }

  describe('the images in containers', { timeout: 600_000 }, () => {
    it('serve, and check a scenario of a stranger behind every wall', async () => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      const server = start('server', {
        environment: { AGENTGYM_HOST: '127.0.0.1', AGENTGYM_PORT: String(port), AGENTGYM_LOG_LEVEL: 'warn' },
        words: ['serve', '--no-worker'],
        profile: usualProfile,
        masked: true,
      })
      const isReady = () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        )
      while (!(await isReady())) {
        expect(server.child.exitCode, server.output()).toBeNull()
        await delay(100)
      }
      // The site is in the image, too.
      expect(await (await fetch(url)).text()).toContain('</html>')
      const operator = await signUpAt(url, 'operator', ['worker'])
      const author = await signUpAt(url, 'acme')
      await publishPackage(author.client, await packScenario('cart-pole', { name: '@acme/cart-pole' }))

      const worker = start('worker', {
        environment: { AGENTGYM_SERVER: url, AGENTGYM_TOKEN: operator.token },
        words: ['worker', '--kinds', 'check', '--exit-when-idle', '1', '--json'],
        profile: workerProfile,
        masked: true,
      })
      const [code] = await once(worker.child, 'exit')
      expect([code, worker.output()]).toEqual([0, expect.stringContaining('"ok":true,"failed":[]')])
      expect(worker.output()).not.toContain('walls_missing')

      server.child.kill('SIGTERM')
      expect([await once(server.child, 'exit'), server.output()]).toEqual([[0, null], expect.any(String)])
    })

    it('refuse jobs of strangers under a profile that refuses namespaces', async () => {
      const worker = start('worker', {
        environment: { AGENTGYM_SERVER: 'http://127.0.0.1:9', AGENTGYM_TOKEN: 'agt_none' },
        words: ['worker', '--json'],
        profile: usualProfile,
        masked: true,
      })
      const [code] = await once(worker.child, 'exit')
      expect(code).toBe(2)
      expect(worker.output()).toContain('"code":"sandbox_incomplete"')
      expect(worker.output()).toMatch(/its sandbox lacks file-system, processes, network, system-calls, privileges/)
    })

    it('hold a license for every package of Debian in their bill', () => {
      for (const image of ['server', 'worker']) {
        const { components } = JSON.parse(readFileSync(join(images, `${image}.cdx.json`), 'utf8'))
        const debian = components.filter(({ purl }: { purl?: string }) => purl?.startsWith('pkg:deb/'))
        expect(debian.length).toBeGreaterThan(3)
        for (const { name } of debian)
          expect(readFileSync(join(rootOf(image), 'usr/share/doc', name, 'copyright'), 'utf8')).not.toBe('')
      }
    })
  })
}
