// Builds the site: `dist/server`, which `agentgym serve` loads (Node cannot run JSX as it is), and `dist/client`, the
// stylesheet, islands and typefaces under addresses that hold their hash. Does nothing when the sources are those of the
// last build. `node web/build.ts --status` prints "built" or "missing", exit status 0 or 1, and builds nothing.
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { InlineConfig } from 'vite'

const root = import.meta.dirname
const stamp = join(root, 'dist/stamp')
/** Every document that may have a page. */
const documents = ['../docs/*.md', '../sdk/*/README.md', '../{plugins,registry}/README.md']

const shared: InlineConfig = { root, configFile: false, logLevel: 'warn' }

const forBrowsers: InlineConfig['build'] = {
  outDir: 'dist/client',
  // Everything is a file of its own: the page's policy allows no `data:`.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  // They have light-dark(), nesting and container queries.
  cssTarget: ['chrome125', 'firefox128', 'safari17.5'],
}

const clientBuild: InlineConfig = {
  ...shared,
  build: {
    ...forBrowsers,
    emptyOutDir: true,
    manifest: 'manifest.json',
    rolldownOptions: {
      input: [
        join(root, 'src/styles/site.css'),
        join(root, 'src/styles/icon.svg'),
        ...globSync('src/islands/*.ts', { cwd: root })
          .filter((path) => !/\.(test|d)\.ts$/.test(path))
          .map((path) => join(root, path)),
      ],
    },
  },
}

/**
 * A script that a page passes into the sandbox's frame, or the frame's own: each is one file, and no module, since Chromium
 * starts no module worker in an opaque origin.
 */
const frameBuild = (name: string): InlineConfig => ({
  ...shared,
  build: {
    ...forBrowsers,
    emptyOutDir: false,
    manifest: `manifest-${name}.json`,
    rolldownOptions: {
      input: join(root, `src/islands/frame/${name}.ts`),
      output: { codeSplitting: false, format: 'iife' },
      // ONNX Runtime asks where its own files are, and is given them.
      transform: { define: { 'import.meta': '{}' } },
    },
  },
})

const serverBuild: InlineConfig = {
  ...shared,
  publicDir: false,
  ssr: { noExternal: [/^lucide/] },
  build: {
    ssr: join(root, 'src/index.ts'),
    outDir: 'dist/server',
    emptyOutDir: true,
    target: 'node24',
    rolldownOptions: {
      // Loaded beside it: one AgentGymError for the whole process.
      external: [/^@agentgym\//, /^hono(\/|$)/],
      output: { entryFileNames: 'index.js' },
    },
  },
}

if (readIfThere(stamp) === fingerprint()) {
  // Newer files that are the same need not be read again.
  utimesSync(stamp, new Date(), new Date())
  if (process.argv.includes('--status')) console.log('built')
} else if (process.argv.includes('--status')) {
  console.log('missing')
  process.exitCode = 1
} else {
  await buildSite()
}

async function buildSite(): Promise<void> {
  const wanted = fingerprint()
  // Loaded only to build: whether there is anything to do is asked at every start.
  const { build } = await import('vite')
  const { renderDocs } = await import('./src/docs/render-docs.ts')
  rmSync(stamp, { force: true })
  await build(clientBuild)
  for (const name of ['frame', 'guest', 'policy']) await build(frameBuild(name))
  compressAssets()
  await build(serverBuild)
  writeFileSync(join(root, 'dist/docs.json'), JSON.stringify(renderDocs(join(root, '..'))))
  writeFileSync(`${stamp}.new`, wanted)
  renameSync(`${stamp}.new`, stamp)
}

/** Of what the build is made of; the lockfile stands for all libraries. */
function fingerprint(): string {
  const own = [
    'src/**/*.{ts,tsx,css,svg}',
    'public/*',
    '../sdk/pictures/{src,styles}/*.{ts,css}',
    '../sdk/{playing,scenario}/src/**/*.ts',
    ...documents,
  ]
  const sources = globSync(own, { cwd: root }).filter((path) => !path.includes('.test.'))
  const hash = createHash('sha256')
  for (const path of [...sources.sort(), 'build.ts', 'package.json', '../pnpm-lock.yaml', '../tsconfig.json'])
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** What is text is compressed once, here. */
function compressAssets(): void {
  const folder = join(root, 'dist/client/assets')
  mkdirSync(folder, { recursive: true })
  for (const path of globSync('*.{js,css,svg,wasm}', { cwd: folder })) {
    const bytes = readFileSync(join(folder, basename(path)))
    // The best quality takes half a minute for WebAssembly of 14 MB.
    const quality = path.endsWith('.wasm') ? 5 : 11
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes, { level: path.endsWith('.wasm') ? 6 : 9 }))
    writeFileSync(
      join(folder, `${path}.br`),
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
    )
  }
}
