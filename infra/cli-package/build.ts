// Builds the package `agentgym` for npm, which the server hands out at /cli/agentgym.tgz: `sdk/cli/dist/agentgym.tgz`, with
// its version and integrity beside it in `agentgym.json`. Does nothing when the sources are those of the last build.
// `--status` prints "built" or "missing", exit status 0 or 1, and builds nothing.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { arch, argv, platform } from 'node:process'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'sdk/cli/dist')
const stamp = join(folder, 'stamp')

if (isBuilt()) {
  // Newer files that are the same need not be read again.
  utimesSync(stamp, new Date(), new Date())
  if (argv.includes('--status')) console.log('built')
} else if (argv.includes('--status')) {
  console.log('missing')
  process.exitCode = 1
} else {
  await build()
}

function isBuilt(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint()
}

async function build(): Promise<void> {
  const wanted = fingerprint()
  // Loaded only to build: whether there is anything to do is asked at every start.
  const { commandFiles } = await import('./command-files.ts')
  const { writeTarball } = await import('@agentgym/contract/tarball')
  const { bytes, integrity } = await writeTarball(commandFiles(root))
  const { version } = JSON.parse(readFileSync(join(root, 'sdk/cli/package.json'), 'utf8'))
  mkdirSync(folder, { recursive: true })
  const write = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(folder, `${name}.new`), content)
    renameSync(join(folder, `${name}.new`), join(folder, name))
  }
  write('agentgym.tgz', bytes)
  write('agentgym.json', `${JSON.stringify({ version, integrity, platform: `${platform}-${arch}` })}\n`)
  write('stamp', wanted)
}

/** Of what the package is made of. */
function fingerprint(): string {
  const sources = globSync(
    [
      '{sdk/*,runtime,registry}/{src,styles,templates}/**/*',
      'sdk/scenario/*.d.ts',
      '{sdk/*,runtime,registry,plugins/*}/package.json',
      'plugins/*/{README.md,LICENSE,src/**/*}',
      'infra/cli-package/*',
      'runtime/learner/build/{agentgym_learner.node,instructions}',
    ],
    { cwd: root, withFileTypes: true },
  )
    .filter((found) => found.isFile() && !found.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
  const hash = createHash('sha256')
  for (const path of sources.sort())
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}
