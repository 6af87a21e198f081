import { expect, it } from 'vitest'
import { readRepositoryFile, repositoryFiles } from './repository-files.ts'

type Manifest = {
  packageManager?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const read = (path: string) => JSON.parse(readRepositoryFile(path)) as Manifest
const manifests = repositoryFiles.filter(
  (path) => /(^|\/)package\.json$/.test(path) && !/testdata|templates/.test(path),
)

it('every dependency is pinned to one version, or is our own', () => {
  const loose = manifests.flatMap((path) => {
    const { dependencies, devDependencies } = read(path)
    return Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, range]) => !/^(workspace:\*|\d+\.\d+\.\d+(-[\w.]+)?)$/.test(range))
      .map(([name, range]) => `${path}: ${name}@${range}`)
  })
  expect(loose).toEqual([])
})

it('pnpm and Node are the same everywhere that names them', () => {
  const { packageManager, devDependencies } = read('package.json')
  expect(packageManager).toBe(`pnpm@${/^pnpm_version=(\S+)$/m.exec(readRepositoryFile('infra/setup/run.sh'))?.[1]}`)
  expect(devDependencies?.node).toBe(/^nodeVersion: (\S+)$/m.exec(readRepositoryFile('pnpm-workspace.yaml'))?.[1])
})
