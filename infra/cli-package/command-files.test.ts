import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { runInNewContext } from 'node:vm'
import { writeTarball } from '@agentgym/contract/tarball'
import { parseSync } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../checks/repository-files.ts'
import { commandFiles } from './command-files.ts'

const files = new Map<string, string>()
const manifestOf = (path: string) => JSON.parse(files.get(path) ?? '')
let tarballBytes = 0
beforeAll(async () => {
  const packed = commandFiles(repositoryRoot)
  for (const { path, bytes } of packed) files.set(path, Buffer.from(bytes).toString('utf8'))
  tarballBytes = (await writeTarball(packed)).bytes.length
}, 60_000)

/** JavaScript that Node runs, with what it imports. Templates and built-in scenarios are bundled by the command instead. */
const modules = () => [...files].filter(([path]) => path.endsWith('.js') && !/^plugins|templates/.test(path))

function importsOf(path: string, source: string): string[] {
  const { module } = parseSync(path, source)
  const dynamic = module.dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start, end))
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...dynamic.filter((text) => /^'.*'$/.test(text)).map((text) => text.slice(1, -1)),
  ]
}

describe('package of the command', () => {
  it('has every module, package and export that its modules import, and no TypeScript among them', () => {
    const { dependencies } = manifestOf('package.json')
    const missing: string[] = []
    for (const [path, source] of modules()) {
      for (const name of importsOf(path, source)) {
        const [, scoped, subpath = ''] = /^(@[^/]+\/[^/]+|[^/]+)(\/.*)?$/.exec(name) ?? []
        const bundled = `node_modules/${scoped}/package.json`
        const isThere = name.startsWith('.')
          ? /\.js(on)?$/.test(name) && files.has(posix.join(posix.dirname(path), name))
          : isBuiltin(name) ||
            (files.has(bundled) ? `.${subpath}` in manifestOf(bundled).exports : scoped in dependencies)
        if (!isThere) missing.push(`${path}: ${name}`)
      }
    }
    // What a server alone loads.
    expect(missing.filter((line) => !/: @agentgym\/(registry(\/processes)?|web)$/.test(line))).toEqual([])
    expect(modules().length).toBeGreaterThan(300)
  })

  it('has the files that processes, threads and exports name', () => {
    const missing: string[] = []
    let processes = 0
    for (const [path, source] of modules()) {
      for (const [, name] of source.matchAll(/new URL\('(\.[^']+)', import\.meta\.url\)/g)) {
        if (/\.(process|worker)|-worker/.test(name)) processes += 1
        const target = posix.join(posix.dirname(path), name)
        const isFolder = [...files.keys()].some((file) => file.startsWith(`${target.replace(/\/$/, '')}/`))
        if (!files.has(target) && !isFolder) missing.push(`${path}: ${name}`)
      }
    }
    for (const path of files.keys()) {
      if (!/^node_modules\/@agentgym\/\w+\/package\.json$/.test(path)) continue
      for (const target of Object.values<string>(manifestOf(path).exports))
        if (!files.has(posix.join(posix.dirname(path), target))) missing.push(`${path}: ${target}`)
    }
    expect(processes).toBeGreaterThan(15)
    expect(missing.map((line) => line.replace(/.*: /, '')).sort()).toEqual(notInPackage)
  })

  it('has no tests, no sources but those that scenarios are compiled against, and stays small', () => {
    const paths = [...files.keys()]
    expect(paths.filter((path) => /\.test\.|\/test\/|testdata/.test(path) && !path.includes('templates/'))).toEqual([])
    const sources = paths.filter((path) => path.endsWith('.ts') && !/^plugins|templates/.test(path))
    expect(sources.filter((path) => !path.startsWith('node_modules/@agentgym/scenario/'))).toEqual([])
    expect(sources).toContain('node_modules/@agentgym/scenario/globals.d.ts')
    expect(paths.filter((path) => path.endsWith('LICENSE') && !path.startsWith('plugins'))).toHaveLength(10)
    expect(tarballBytes).toBeLessThan(3_000_000)
  })

  it('pins every dependency to the version of the lockfile', () => {
    const lockfile = readFileSync(join(repositoryRoot, 'pnpm-lock.yaml'), 'utf8')
    const { dependencies, bundleDependencies } = manifestOf('package.json')
    for (const name of bundleDependencies) {
      expect(manifestOf(`node_modules/${name}/package.json`)).toMatchObject({ name, version: dependencies[name] })
      // npm would not install them.
      expect(manifestOf(`node_modules/${name}/package.json`)).not.toHaveProperty('dependencies')
      delete dependencies[name]
    }
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['esbuild', 'isolated-vm', 'onnxruntime-node']))
    const unlocked = Object.entries(dependencies).filter(
      ([name, version]) => !new RegExp(`^ {2}'?${name}@${version}'?:$`, 'm').test(lockfile),
    )
    expect(unlocked).toEqual([])
  })
})

/** Written at run time, or looked for before use; the last is text of a bundler. */
const notInPackage = [
  '../../../../agentgym',
  '../../../sdk/python/src',
  '../../learner/build.sh',
  '../../learner/build/torch-root',
  '../../node_modules/.cache/node',
  '../node_modules/.cache/node',
  `./\${name}.mjs`,
]

describe('launcher', () => {
  it.each([
    [
      ['list'],
      {
        stderr:
          /^Error: AgentGym needs Node 24; this is Node 18\.20\.4\.\n {2}Install Node 24 .*\n {2}setup_incomplete\n$/,
      },
    ],
    [
      ['list', '--json'],
      { stdout: /^\{"error":\{"code":"setup_incomplete","message":"AgentGym needs Node 24; .*\}\}\n$/ },
    ],
  ])('names the Node that %j needs', (words, expected) => {
    const printed = { stdout: '', stderr: '' }
    const streamOf = (name: 'stdout' | 'stderr') => ({
      write: (text: string) => {
        printed[name] += text
      },
    })
    const process = {
      versions: { node: '18.20.4' },
      argv: ['node', 'agentgym', ...words],
      stdout: streamOf('stdout'),
      stderr: streamOf('stderr'),
      exitCode: 0,
    }
    const source = files.get('bin/agentgym.cjs') ?? ''
    expect(source).toMatch(/^#!\/usr\/bin\/env -S node --no-node-snapshot\n/)
    runInNewContext(source.replace(/^#!.*/, ''), { process })
    expect(process.exitCode).toBe(2)
    expect(printed).toEqual({
      stdout: '',
      stderr: '',
      ...Object.fromEntries(Object.entries(expected).map(([name, text]) => [name, expect.stringMatching(text)])),
    })
  })
})
