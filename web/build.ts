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

const shared: InlineConfig = { root, configFile: false, logLevel: 'warn', publicDir: false }

const clientBuild: InlineConfig = {
  ...shared,
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    manifest: 'manifest.json',
    // Everything is a file of its own: the page's policy allows no `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // They have light-dark(), nesting and container queries.
    cssTarget: ['chrome125', 'firefox128', 'safari17.5'],
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

const serverBuild: InlineConfig = {
  ...shared,
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
  rmSync(stamp, { force: true })
  await build(clientBuild)
  compressAssets()
  await build(serverBuild)
  writeFileSync(`${stamp}.new`, wanted)
  renameSync(`${stamp}.new`, stamp)
}

/** Of what the build is made of; the lockfile stands for all libraries. */
function fingerprint(): string {
  const own = ['src/**/*.{ts,tsx,css,svg}', '../sdk/pictures/{src,styles}/*.{ts,css}']
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
  for (const path of globSync('*.{js,css,svg}', { cwd: folder })) {
    const bytes = readFileSync(join(folder, basename(path)))
    writeFileSync(join(folder, `${path}.gz`), gzipSync(bytes, { level: 9 }))
    writeFileSync(
      join(folder, `${path}.br`),
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    )
  }
}
