import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cruiseOptions, importRules } from './import-rules.ts'
import { repositoryRoot, sourceFiles } from './repository-files.ts'

/** Every broken rule of the files (or folders) of the tree in `root`, as `rule: from → to`. */
async function violations(root: string, files: string[]): Promise<string[]> {
  const result = await cruise(files, {
    ...cruiseOptions,
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: importRules(root) },
  })
  const { summary } = result.output as ICruiseResult
  expect(summary.totalDependenciesCruised, 'imports seen').toBeGreaterThan(20)
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort()
}

// [rule, file that breaks it, what the file imports]. The first two packages' index files are entries, everything else is inside.
const trespasses: [rule: string, file: string, specifier: string][] = [
  ['no-cycles', 'runtime/src/training/loop.ts', './schedule.ts'],
  ['no-cycles', 'runtime/src/policy/graph.ts', './spec.ts'],
  ['contract-imports-only-zod', 'sdk/contract/src/ids.ts', 'node:crypto'],
  ['contract-imports-only-zod', 'sdk/contract/src/more-ids.ts', '@agentgym/scenario'],
  ['pictures-import-only-contract', 'sdk/pictures/src/font.ts', 'node:fs'],
  ['tarballs-need-zlib-alone', 'sdk/contract/src/tarball/write-folder.ts', 'node:fs'],
  ['outbound-needs-net-alone', 'sdk/contract/src/outbound/post.ts', 'node:https'],
  ['browsers-get-no-tarballs', 'sdk/contract/src/form.ts', './tarball/write-folder.ts'],
  ['scenario-imports-nothing', 'sdk/scenario/src/engine/clock.ts', 'node:perf_hooks'],
  ['scenario-imports-nothing', 'sdk/scenario/src/engine/schema.ts', 'zod'],
  ['plugins-import-only-scenario', 'plugins/pole/src/index.ts', '@agentgym/contract'],
  ['plugins-import-only-scenario', 'plugins/pole/src/load.ts', 'node:fs'],
  ['plugins-import-only-scenario', 'plugins/pole/src/other.ts', '../../maze/src/index.ts'],
  ['runtime-and-registry-apart', 'runtime/src/publish.ts', '@agentgym/registry'],
  ['runtime-and-registry-apart', 'registry/src/train.ts', '@agentgym/runtime'],
  ['client-imports-only-contract', 'sdk/client/src/read.ts', 'node:fs'],
  ['client-imports-only-contract', 'sdk/client/src/settings.ts', '@agentgym/scenario'],
  ['compute-imports-only-contract', 'sdk/compute/src/dashboard.ts', '@agentgym/client'],
  ['agent-imports-no-trainer', 'sdk/agent/src/train.ts', '@agentgym/runtime'],
  ['registry-imports-only-client-and-contract', 'registry/src/modules/catalog/spaces.ts', '@agentgym/scenario'],
  ['core-imports-no-module', 'registry/src/core/http/index.ts', '../../modules/catalog/query.ts'],
  ['modules-do-not-know-the-app', 'registry/src/modules/packages/restart.ts', '../../app/serve.ts'],
  ['web-imports-only-client-contract-and-pictures', 'web/src/page.ts', '@agentgym/registry'],
  ['web-imports-only-client-contract-and-pictures', 'web/src/part.tsx', '../../registry/src/index.ts'],
  ['islands-play-with-what-browsers-run', 'web/src/islands/look-up.ts', '@agentgym/registry'],
  ['only-frames-load-the-harness', 'runtime/src/sandbox/early.ts', '@agentgym/scenario/harness'],
  ['playing-imports-only-contract-and-scenario', 'sdk/playing/src/keyboard.ts', 'node:fs'],
  ['policies-need-no-node', 'sdk/agent/src/policy/tensors.ts', 'node:fs'],
  ['cli-is-the-top', 'runtime/src/progress.ts', '../../sdk/cli/src/index.ts'],
  ['infra-is-outside', 'runtime/src/self-check.ts', '../../infra/checks/rules.ts'],
  ['no-deep-imports', 'sdk/cli/src/deep.ts', '../../../runtime/src/training/loop.ts'],
  ['only-tests-import-the-testkit', 'runtime/src/started.ts', '../../testkit/src/registry.ts'],
  ['only-tests-import-tests', 'runtime/src/borrowed.ts', './loop.test.ts'],
  ['no-unresolved-imports', 'runtime/src/typo.ts', './traning.ts'],
  ['only-sandbox-imports-isolated-vm', 'runtime/src/rollout/isolate.ts', 'isolated-vm'],
  ['only-learner-loads-the-addon', 'runtime/src/training/direct.ts', '../../learner/build/addon.node'],
  ['only-one-file-loads-models', 'runtime/src/hosting/session.ts', 'onnxruntime-node'],
  ['only-a-frame-loads-models-in-pages', 'web/src/islands/play/model.ts', 'onnxruntime-web'],
  ['only-npm-imports-verdaccio', 'registry/src/app/npm.ts', 'verdaccio'],
  ['only-storage-knows-s3', 'registry/src/modules/catalog/pictures.ts', '@aws-sdk/client-s3'],
  ['only-database-opens-databases', 'registry/src/modules/catalog/query.ts', 'pg'],
  ['only-one-file-imports-lucia', 'registry/src/modules/accounts/tokens.ts', 'lucia'],
  ['only-accounts-hashes-passwords', 'registry/src/app/hash.ts', '@node-rs/argon2'],
]

// What the rules allow, and must go on allowing.
const rightful: [file: string, specifier: string][] = [
  ['runtime/src/training/schedule.ts', './loop.ts'], // the other half of the cycle
  ['sdk/contract/src/index.ts', 'zod'],
  ['sdk/contract/src/ids.test.ts', 'node:crypto'],
  ['sdk/contract/src/tarball/pack.ts', 'node:zlib'],
  ['sdk/contract/src/outbound/public.ts', 'node:net'],
  ['sdk/scenario/src/index.ts', './engine/index.ts'],
  ['sdk/scenario/src/engine/index.ts', './clock.ts'],
  ['plugins/maze/src/index.ts', '@agentgym/scenario'],
  ['plugins/maze/src/index.test.ts', 'node:fs'],
  ['runtime/src/index.ts', '@agentgym/scenario/engine'],
  ['runtime/src/loop.test.ts', '@agentgym/contract'],
  ['runtime/src/sandbox/host.ts', 'isolated-vm'],
  ['registry/src/index.ts', '@agentgym/contract'],
  ['registry/src/modules/npm/gateway.ts', 'verdaccio'],
  ['registry/src/core/storage/s3.ts', '@aws-sdk/client-s3'],
  ['registry/src/core/database/open.ts', 'pg'],
  ['registry/src/modules/accounts/sessions.ts', 'lucia'],
  ['registry/src/modules/accounts/log-in.ts', '@node-rs/argon2'],
  ['registry/src/modules/packages/packages.routes.ts', '../../core/http/env.ts'],
  ['registry/src/core/http/env.ts', '../database/open.ts'],
  ['registry/src/app/serve.ts', '../modules/packages/packages.routes.ts'],
  ['registry/src/publish.ts', '@agentgym/client'],
  ['runtime/src/worker/lease.ts', '@agentgym/client'],
  ['sdk/client/src/index.ts', '@agentgym/contract'],
  ['sdk/cli/src/index.ts', '@agentgym/runtime'],
  ['sdk/cli/src/serve.ts', '@agentgym/registry'],
  ['sdk/cli/src/site.ts', '@agentgym/web'],
  ['web/src/index.ts', '@agentgym/client'],
  ['web/src/frame.ts', '@agentgym/pictures'],
  ['sdk/compute/src/index.ts', '@agentgym/contract'],
  ['sdk/pictures/src/index.ts', '@agentgym/contract'],
  ['sdk/scenario/src/harness/harness.ts', '../engine/index.ts'],
  ['sdk/playing/src/index.ts', '@agentgym/scenario/engine'],
  ['web/src/islands/play/play.ts', '@agentgym/playing'],
  ['web/src/islands/frame/guest.ts', '@agentgym/scenario/harness'],
  ['web/test/site.test.ts', '@agentgym/registry'],
  ['testkit/src/registry.ts', '@agentgym/registry'],
  ['web/test/pages.test.ts', '../../testkit/src/registry.ts'],
  ['infra/checks/rules.ts', '../../runtime/src/training/loop.ts'],
]

const exportsOf: Record<string, Record<string, string | Record<string, string>>> = {
  'sdk/contract': { '.': './src/index.ts' },
  'sdk/client': { '.': './src/index.ts' },
  'sdk/compute': { '.': './src/index.ts' },
  'sdk/pictures': { '.': './src/index.ts' },
  'sdk/playing': { '.': './src/index.ts' },
  'sdk/scenario': {
    '.': './src/index.ts',
    './engine': './src/engine/index.ts',
    './harness': './src/harness/harness.ts',
  },
  'sdk/cli': {},
  runtime: { '.': './src/index.ts' },
  registry: { '.': './src/index.ts' },
  web: { '.': { 'agentgym-source': './src/index.ts', default: './dist/server/index.js' } },
  'plugins/pole': {},
}

/** A small repository in which every rule is broken: the folders of ours, each file one import. */
function buildTrespassingTree(root: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  for (const [file, specifier] of [
    ...rightful,
    ...trespasses.map(([, file, specifier]) => [file, specifier] as const),
  ]) {
    write(file, `import { thing } from '${specifier}'\nexport const mine: unknown = thing\n`)
  }
  // A circle of types alone is one, too.
  write('runtime/src/policy/spec.ts', "import type { Graph } from './graph.ts'\nexport type Spec = Graph[]\n")
  write('runtime/src/policy/graph.ts', "import type { Spec } from './spec.ts'\nexport type Graph = Spec | null\n")
  write('runtime/learner/build/addon.node', '')
  mkdirSync(join(root, 'node_modules/@agentgym'), { recursive: true })
  for (const [folder, exports] of Object.entries(exportsOf)) {
    const name = `@agentgym/${folder.split('/').at(-1)}`
    write(`${folder}/package.json`, JSON.stringify({ name, version: '1.0.0', type: 'module', exports }))
    symlinkSync(join(root, folder), join(root, 'node_modules', name))
  }
  const libraries = ['zod', 'isolated-vm', 'verdaccio', '@aws-sdk/client-s3', 'pg', 'lucia', '@node-rs/argon2']
  for (const library of libraries) {
    write(`node_modules/${library}/package.json`, JSON.stringify({ name: library, version: '1.0.0', main: 'index.js' }))
    write(`node_modules/${library}/index.js`, '')
  }
}

it('imports follow the rules', { timeout: 180_000 }, async () => {
  expect(await violations(repositoryRoot, sourceFiles('.ts', '.tsx', '.mjs'))).toEqual([])
})

describe('each rule detects a violation', () => {
  const root = mkdtempSync(join(tmpdir(), 'import-rules-'))
  let found: string[] = []
  beforeAll(async () => {
    buildTrespassingTree(root)
    found = await violations(root, ['sdk', 'runtime', 'registry', 'web', 'plugins', 'testkit', 'infra'])
  })
  afterAll(() => rmSync(root, { recursive: true }))

  it.each(trespasses)('%s: %s may not import %s', (rule, file) => {
    expect(found.filter((line) => line.startsWith(`${rule}: ${file} `))).not.toEqual([])
  })

  it('allowed imports pass', () => {
    const innocent = rightful.map(([file]) => file).filter((file) => file !== 'runtime/src/training/schedule.ts')
    expect(found.filter((line) => innocent.some((file) => line.includes(`: ${file} →`)))).toEqual([])
  })

  it('every rule has a violation here', () => {
    const broken = new Set(trespasses.map(([rule]) => rule))
    expect(
      importRules(root)
        .map(({ name }) => name)
        .filter((name) => !broken.has(name ?? '')),
    ).toEqual([])
  })
})
