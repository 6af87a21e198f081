import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ICruiseOptions, IForbiddenRuleType } from 'dependency-cruiser'

const tests = '[.]test[.]tsx?$|/test/|/testing/|/testdata/'
const packages = '^(sdk/[^/]+|plugins/[^/]+|runtime|registry|web)/'

/** The files that a package's `exports` name, as one regular expression: the only doors into another package. */
function entryFiles(root: string): string {
  const entries: string[] = []
  for (const manifest of globSync(
    ['sdk/*/package.json', 'plugins/*/package.json', '{runtime,registry,web}/package.json'],
    { cwd: root },
  )) {
    const { exports = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8'))
    for (const file of exportedFiles(exports)) entries.push(join(manifest, '..', file).replaceAll('.', '[.]'))
  }
  return `^(${entries.join('|')})$`
}

type Exports = string | { [name: string]: Exports }

/** By path, and for some by condition: sources, types, what is built. */
function exportedFiles(exports: Exports): string[] {
  return typeof exports === 'string' ? [exports] : Object.values(exports).flatMap(exportedFiles)
}

const npm = (name: string) => `(^|(^|/)node_modules/)${name}(/|$)`

/** Who may import whom, for the tree in `root` (the folder that holds sdk/, runtime/, …). */
export function importRules(root: string): IForbiddenRuleType[] {
  const rules: IForbiddenRuleType[] = [
    {
      name: 'no-cycles',
      comment: 'Files that need each other, for types too, are one file, or one knows too much.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'contract-imports-only-zod',
      comment: 'Everything speaks the contract, so it can depend on nothing that speaks it.',
      from: { path: '^sdk/contract/', pathNot: [tests, '^sdk/contract/src/(tarball|outbound)/'] },
      to: { pathNot: ['^sdk/contract/src/', npm('zod')] },
    },
    {
      name: 'scenario-imports-nothing',
      comment: 'It runs inside the isolate, without Node and other packages.',
      from: { path: '^sdk/scenario/', pathNot: tests },
      to: { pathNot: '^sdk/scenario/src/' },
    },
    {
      name: 'plugins-import-only-scenario',
      comment: 'A built-in scenario gets no more than any author gets.',
      from: { path: '^plugins/([^/]+)/', pathNot: tests },
      to: { pathNot: ['^plugins/$1/', '^sdk/scenario/src/index[.]ts$'] },
    },
    {
      name: 'runtime-and-registry-apart',
      comment: 'The one runs uploaded code, the other holds keys and money: they meet over HTTP, through the client.',
      from: { path: '^(runtime|registry)/' },
      to: { path: '^(runtime|registry)/', pathNot: '^$1/' },
    },
    {
      name: 'cli-is-the-top',
      comment: 'The command sees everything, so nothing may see the command.',
      from: { pathNot: ['^sdk/cli/', '^infra/', '^testkit/', '^node_modules/'] },
      to: { path: '^sdk/cli/' },
    },
    {
      name: 'infra-is-outside',
      comment: 'Checks, set-up and benchmarks look at the product; the product does not know them.',
      from: { path: packages },
      to: { path: '^infra/' },
    },
    {
      name: 'no-deep-imports',
      comment: 'A package is entered by what its package.json exports, whatever a relative path could reach.',
      from: { path: packages },
      to: { path: packages, pathNot: ['^$1/', entryFiles(root)] },
    },
    {
      name: 'only-tests-import-the-testkit',
      comment: 'What it starts is for tests and benchmarks: nothing of it is part of the service.',
      from: { path: packages, pathNot: tests },
      to: { path: '^testkit/' },
    },
    {
      name: 'only-tests-import-tests',
      from: { pathNot: tests },
      to: { path: '[.]test[.]tsx?$' },
    },
    {
      name: 'no-unresolved-imports',
      comment: 'The address of a file is resolved by Vite.',
      from: {},
      to: { couldNotResolve: true, pathNot: '[?]url$' },
    },
  ]
  return [...rules, ...nodeRules, ...pageRules, ...serviceRules, ...confined.map(confinedTo)].map((rule) => ({
    ...rule,
    severity: 'error',
  }))
}

// Of the contract's parts that need Node.
const nodeRules: IForbiddenRuleType[] = [
  {
    name: 'tarballs-need-zlib-alone',
    comment: 'Tarballs are read and written in Node only. Nothing else of the contract may need Node.',
    from: { path: '^sdk/contract/src/tarball/', pathNot: tests },
    to: { pathNot: ['^sdk/contract/src/', '^(node:)?(zlib|crypto|stream|stream/promises)$'] },
  },
  {
    name: 'outbound-needs-net-alone',
    comment: 'Which addresses may be called is decided alike by runtime and registry, each with a client of its own.',
    from: { path: '^sdk/contract/src/outbound/', pathNot: tests },
    to: { pathNot: ['^sdk/contract/src/', '^(node:)?net$'] },
  },
  {
    name: 'browsers-get-no-tarballs',
    comment: 'These parts need Node; the rest of the contract runs in browsers, too.',
    from: { path: '^sdk/contract/src/', pathNot: [tests, '^sdk/contract/src/(tarball|outbound)/'] },
    to: { path: '^sdk/contract/src/(tarball|outbound)/' },
  },
]

// Of the site, and of what its pages run.
const pageRules: IForbiddenRuleType[] = [
  {
    name: 'web-imports-only-client-contract-and-pictures',
    comment: 'The site is a client of the API like any other: no rule of the marketplace is in it.',
    from: { path: '^web/', pathNot: [tests, '^web/src/islands/'] },
    to: { path: packages, pathNot: ['^web/', '^sdk/(client|contract|pictures)/'] },
  },
  {
    name: 'islands-play-with-what-browsers-run',
    comment: 'A page plays scenarios and agents by the same code as the runtime, as far as it needs no Node.',
    from: { path: '^web/src/islands/', pathNot: tests },
    to: {
      path: packages,
      pathNot: ['^web/', '^sdk/(contract|pictures|playing|scenario)/', '^sdk/agent/src/policy[.]ts$'],
    },
  },
  {
    name: 'only-frames-load-the-harness',
    comment: 'To import it takes everything from the realm that a scenario must not have.',
    from: { path: packages, pathNot: ['^sdk/scenario/', '^web/src/islands/frame/', tests] },
    to: { path: '^sdk/scenario/src/harness/', dependencyTypesNot: ['type-only'] },
  },
]

// Of the client, the pictures and the service.
const serviceRules: IForbiddenRuleType[] = [
  {
    name: 'pictures-import-only-contract',
    comment: 'Pages, files and terminals draw with it, in browsers and in Node.',
    from: { path: '^sdk/pictures/', pathNot: tests },
    to: { pathNot: ['^sdk/pictures/', '^sdk/contract/'] },
  },
  {
    name: 'playing-imports-only-contract-and-scenario',
    comment: 'Pages, terminals and worker threads play with it.',
    from: { path: '^sdk/playing/src/', pathNot: tests },
    to: { pathNot: ['^sdk/(playing|contract|scenario)/', npm('zod')] },
  },
  {
    name: 'policies-need-no-node',
    comment: 'Pages choose actions by them.',
    from: { path: '^sdk/agent/src/(policy[.]ts|policy/(action-sampling|batch-tensors|likely-choices|tensors)[.]ts)$' },
    to: { path: ['^(node:|util$|fs$|path$|crypto$|assert$)', 'onnxruntime'] },
  },
  {
    name: 'client-imports-only-contract',
    comment: 'It runs in every client of a server, including browsers.',
    from: { path: '^sdk/client/src/', pathNot: tests },
    to: { path: [packages, '^(node:|fs$|path$|crypto$)'], pathNot: ['^sdk/client/src/', '^sdk/contract/'] },
  },
  {
    name: 'compute-imports-only-contract',
    comment: 'It spends money: what it is made of is read, and nothing of training is in it.',
    from: { path: '^sdk/compute/', pathNot: tests },
    to: { path: packages, pathNot: ['^sdk/compute/', '^sdk/contract/'] },
  },
  {
    name: 'agent-imports-no-trainer',
    comment: 'It acts in programs of buyers: neither trainer nor sandbox is in it.',
    from: { path: '^sdk/agent/', pathNot: tests },
    to: { path: packages, pathNot: ['^sdk/agent/', '^sdk/(client|contract|scenario)/'] },
  },
  {
    name: 'registry-imports-only-client-and-contract',
    comment: 'The service holds keys and money: what it is made of is read.',
    from: { path: '^registry/', pathNot: tests },
    to: { path: packages, pathNot: ['^registry/', '^sdk/(client|contract)/'] },
  },
  {
    name: 'core-imports-no-module',
    comment: 'Modules stand on core. What core needs of one, app/ passes to it.',
    from: { path: '^registry/src/core/', pathNot: tests },
    to: { path: '^registry/src/(modules|app)/' },
  },
  {
    name: 'modules-do-not-know-the-app',
    comment: 'app/ makes the modules and mounts them; a module that knew it would know all of them.',
    from: { path: '^registry/src/modules/', pathNot: tests },
    to: { path: '^registry/src/app/' },
  },
]

// Libraries that only one room may touch.
const confined: [rule: string, room: string, library: string][] = [
  ['only-sandbox-imports-isolated-vm', '^runtime/src/sandbox/', npm('isolated-vm')],
  ['only-learner-loads-the-addon', '^runtime/src/learner/', '^runtime/learner/|[.]node$'],
  // A session opened elsewhere could be given bytes that were not checked, or guess their format.
  ['only-one-file-loads-models', '^sdk/agent/src/policy/onnx-session[.]ts$', npm('onnxruntime-(node|common)')],
  ['only-a-frame-loads-models-in-pages', '^web/src/islands/frame/', npm('onnxruntime-web')],
  ['only-npm-imports-verdaccio', '^registry/src/modules/npm/', npm('verdaccio')],
  ['only-storage-knows-s3', '^registry/src/core/storage/', npm('@aws-sdk/[^/]+')],
  ['only-database-opens-databases', '^registry/src/core/database/', npm('(pg|@electric-sql/pglite)')],
  ['only-one-file-imports-lucia', '^registry/src/modules/accounts/sessions[.]ts$', npm('lucia')],
  ['only-accounts-hashes-passwords', '^registry/src/modules/accounts/', npm('@node-rs/argon2')],
]

function confinedTo([name, room, library]: (typeof confined)[number]): IForbiddenRuleType {
  return {
    name,
    comment: 'One room knows this library, so that one room is read when it changes.',
    from: { path: packages, pathNot: [room, tests] },
    to: { path: library },
  }
}

export const cruiseOptions: ICruiseOptions = {
  // TypeScript 7 has no compiler API that dependency-cruiser could use: without swc it would see no imports in .ts at all.
  parser: 'swc',
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '(^|/)(dist|testdata)/' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    // What is built from sources is looked at in its sources.
    conditionNames: ['agentgym-source', 'import', 'node', 'default'],
    extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.node'],
  },
}
