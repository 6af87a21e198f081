import { expect, it } from 'vitest'
import { readRepositoryFile } from '../checks/repository-files.ts'
import { softwareBill } from './software-bill.ts'

const stages = readRepositoryFile('infra/images/Containerfile')
  .split(/^FROM /m)
  .slice(1)

it('images run as an ordinary user, by a program without a shell, on a base that the build names', () => {
  expect(stages.map((stage) => stage.split('\n')[0])).toEqual([
    '$'.concat('{BASE} AS build'),
    'scratch AS server',
    'scratch AS worker',
  ])
  for (const stage of stages.slice(1)) {
    expect(stage).toContain('\nUSER 10001:10001\n')
    expect(stage).not.toMatch(/^RUN /m)
    for (const [, command] of stage.matchAll(/(?:ENTRYPOINT|CMD) (.*)$/gm)) expect(command).toMatch(/^\[.*\]$/)
  }
})

it('Node and pnpm in the images are those of this repository', () => {
  const { packageManager, devDependencies } = JSON.parse(readRepositoryFile('package.json'))
  const script = readRepositoryFile('infra/images/install-node.sh')
  const fetched = [...script.matchAll(/^fetch "(.*)-\$processor" (\S+)/gm)].map(
    ([, name, version]) => `${name}@${version}`,
  )
  expect(fetched).toEqual([`node-linux@${devDependencies.node}`, `@pnpm/exe.linux@${packageManager.split('@')[1]}`])
  for (const processor of ['x64', 'arm64']) {
    for (const name of fetched) expect(script).toContain(`${name.replace('linux@', `linux-${processor}@`)}) expected='`)
  }
})

it('the bill of an image is the same twice, and names Node, Debian’s packages and npm’s', () => {
  const packages = [
    { name: 'libc6', version: '2.36-9+deb12u1', architecture: 'amd64', source: 'glibc', sourceVersion: '2.36' },
  ]
  const npm = (timestamp: string) => ({
    bomFormat: 'CycloneDX',
    serialNumber: `urn:uuid:${timestamp}`,
    metadata: { timestamp, component: { name: 'agentgym', version: '0.1.0' } },
    components: [{ type: 'library', name: 'zod', purl: 'pkg:npm/zod@4.6.7' }],
  })
  const bill = softwareBill('server', packages, { npm: npm('now'), seconds: 1_764_460_800 })
  expect(softwareBill('server', packages, { npm: npm('later'), seconds: 1_764_460_800 })).toEqual(bill)
  expect(bill).toMatchObject({
    metadata: { timestamp: '2025-11-30T00:00:00Z', component: { type: 'container', name: 'agentgym-server' } },
    components: [
      { name: 'node' },
      { purl: 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=amd64&distro=debian-12' },
      { purl: 'pkg:npm/zod@4.6.7' },
    ],
  })
})
