/**
 * Last step of the build, inside its stage: puts into /images what the images have beside /app, and takes out of /app what
 * no Linux of this processor loads. Every file gets the time SOURCE_DATE_EPOCH, so that two builds give the same bytes.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { arch, env } from 'node:process'
import { type DebianPackage, softwareBill } from './software-bill.ts'

const user = 10_001
const seconds = Number(env.SOURCE_DATE_EPOCH ?? 0)

/** Programs of each image; the libraries that they and /app need are found by the dynamic linker. */
const programs = {
  // Backups are made with PostgreSQL's own programs.
  server: ['/usr/bin/node', '/usr/lib/postgresql/15/bin/pg_dump', '/usr/lib/postgresql/15/bin/pg_restore'],
  // What keeps jobs behind walls.
  worker: ['/usr/bin/node', '/usr/bin/bwrap', '/usr/bin/prlimit'],
}

prunePackages()
const learner = '/source/runtime/learner/build'
// Only trainings on a GPU go through libtorch.
const learnerLibraries = env.TORCH ? ['agentgym_learner.node', 'agentgym_autograd.so'] : ['agentgym_learner.node']
for (const file of [...learnerLibraries, 'torch-root', 'instructions']) place(join(learner, file), '/images/learner')
await bundleJobs()

const addons = globSync('/app/node_modules/.pnpm/*/node_modules/{*,@*/*}/**/*.{node,so,so.1}')
for (const [image, files] of Object.entries(programs)) {
  const root = join('/images/system', image)
  makeRoot(root)
  const binaries = [...files, ...addons, ...(image === 'worker' ? learnerLibraries.map((f) => join(learner, f)) : [])]
  const libraries = [...new Set(binaries.flatMap(librariesOf))].filter((file) => !file.startsWith('/app/')).sort()
  for (const file of files) place(file, join(root, 'usr/bin'))
  for (const file of libraries) place(file, join(root, realpathSync(dirname(file))))
  const packages = packagesOf([...files, ...libraries].map((file) => realpathSync(file)))
  for (const { name } of packages) copyLicense(name, root)
  const bill = softwareBill(image, packages, {
    npm: JSON.parse(readFileSync('/build/npm.cdx.json', 'utf8')),
    seconds,
  })
  mkdirSync(join(root, 'usr/share/agentgym'), { recursive: true })
  writeFileSync(join(root, 'usr/share/agentgym/sbom.cdx.json'), `${JSON.stringify(bill, null, 1)}\n`)
}
setTimes('/images')

/** Only this processor's native libraries, and not what runs in browsers: the site's bundle has it. */
function prunePackages(): void {
  const packages = '/app/node_modules/.pnpm'
  const others = [
    ...globSync(`${packages}/onnxruntime-node@*/node_modules/onnxruntime-node/bin/napi-v6/*`).filter(
      (f) => !f.endsWith('/linux'),
    ),
    ...globSync(`${packages}/onnxruntime-node@*/node_modules/onnxruntime-node/bin/napi-v6/linux/*`).filter(
      (f) => !f.endsWith(`/${arch}`),
    ),
    ...globSync(`${packages}/isolated-vm@*/node_modules/isolated-vm/prebuilds/*`).filter(
      (f) => !f.endsWith(`/linux-${arch}`),
    ),
    ...globSync(`${packages}/isolated-vm@*/node_modules/isolated-vm/prebuilds/*/*musl*`),
    ...globSync(`${packages}/isolated-vm@*/node_modules/isolated-vm/{src,vendor,native-example,isolated-vm-*.tgz}`),
    ...globSync(`${packages}/onnxruntime-web@*/node_modules/onnxruntime-web/dist/*`),
    ...globSync(`${packages}/lucide@*/node_modules/lucide/dist`),
    ...globSync(`${packages}/**/*.{js,mjs,cjs,ts,mts,cts}.map`),
  ]
  for (const file of others) rmSync(file, { recursive: true, force: true })
}

/** A job's bundle is made at its first start elsewhere; in the image nothing can be written. It is valid for files of this time. */
async function bundleJobs(): Promise<void> {
  setTimes('/app')
  const bundler = '/app/runtime/src/sandbox/job-bundle.ts'
  const { jobFile } = (await import(bundler)) as typeof import('../../runtime/src/sandbox/job-bundle.ts')
  for (const entry of globSync('/app/runtime/src/**/*.process.ts')
    .filter((file) => !file.includes('/testing/'))
    .sort()) {
    const file = await jobFile(entry)
    if (file === entry) throw new Error(`${entry} could not be bundled`)
  }
  setTimes('/app')
}

function makeRoot(root: string): void {
  for (const folder of ['usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'data']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  const files = {
    passwd: `root:x:0:0:root:/:/nonexistent\nagentgym:x:${user}:${user}:AgentGym:/data:/nonexistent\n`,
    group: `root:x:0:\nagentgym:x:${user}:\n`,
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
    'os-release': readFileSync('/etc/os-release', 'utf8'),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'etc', name), text)
  execFileSync('chmod', ['1777', join(root, 'tmp')])
  execFileSync('chown', [`${user}:${user}`, join(root, 'data')])
}

function place(file: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  cpSync(realpathSync(file), join(folder, basename(file)), { dereference: true })
}

/** Paths by which the dynamic linker finds what a program or library is linked to. */
function librariesOf(file: string): string[] {
  const text = execFileSync('ldd', [file], { encoding: 'utf8' })
  if (text.includes('not found')) throw new Error(`${file} lacks libraries:\n${text}`)
  return [...text.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path]) => path)
}

function packagesOf(files: string[]): DebianPackage[] {
  const owners = new Set(files.filter((file) => file !== '/usr/bin/node' && !file.startsWith('/opt/')).map(ownerOf))
  return [...owners].sort().map((name) => {
    const format = ['Package', 'Version', 'Architecture', 'source:Package', 'source:Version']
      .map((field) => `\${${field}}`)
      .join('\t')
    const [plain, version, architecture, source, sourceVersion] = execFileSync(
      'dpkg-query',
      ['-W', '-f', format, name],
      { encoding: 'utf8' },
    ).split('\t')
    return { name: plain, version, architecture, source, sourceVersion }
  })
}

/** The package that a file came from: dpkg knows it under /usr/lib or, from before the merge, under /lib. */
function ownerOf(file: string): string {
  for (const path of [file, file.replace(/^\/usr/, '')]) {
    try {
      const line = execFileSync('dpkg-query', ['-S', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      return line.split(': ')[0]
    } catch {
      // The other path, then.
    }
  }
  throw new Error(`no Debian package owns ${file}`)
}

function copyLicense(name: string, root: string): void {
  const folder = join('usr/share/doc', name)
  place(join('/', folder, 'copyright'), join(root, folder))
}

function setTimes(root: string): void {
  for (const name of readdirSync(root)) {
    const path = join(root, name)
    if (lstatSync(path).isDirectory()) setTimes(path)
    else lutimesSync(path, seconds, seconds)
  }
  lutimesSync(root, seconds, seconds)
}
