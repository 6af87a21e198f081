import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createMemoryGroup } from './job-memory.ts'
import { withFolder } from './testing/scenario-folder.ts'

test('no group where the machine has no memory controller', () => {
  return withFolder({ 'cgroup.controllers': 'hugetlb' }, (folder) => {
    expect(createMemoryGroup(1234, 100, folder)).toBeUndefined()
    expect(createMemoryGroup(1234, 100, path.join(folder, 'none'))).toBeUndefined()
  })
})

test('no group, and no trace of one, where its files cannot be written', () => {
  // A plain folder: the kernel would have made memory.max in it.
  return withFolder({ 'cgroup.controllers': 'cpu memory' }, (folder) => {
    const own = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m)?.[1] ?? '/'
    mkdirSync(path.join(folder, own), { recursive: true })
    expect(createMemoryGroup(1234, 100, folder)).toBeUndefined()
    expect(existsSync(path.join(folder, own, 'agentgym-job-1234'))).toBe(false)
  })
})
