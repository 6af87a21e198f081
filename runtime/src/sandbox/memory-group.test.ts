import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createMemoryGroup } from './memory-group.ts'
import { scenarioFolder } from './testing/scenario-folder.ts'

test('no group where the machine has no memory controller', () => {
  using made = scenarioFolder({ 'cgroup.controllers': 'hugetlb' })
  expect(createMemoryGroup(1234, 100, made.folder)).toBeUndefined()
  expect(createMemoryGroup(1234, 100, path.join(made.folder, 'none'))).toBeUndefined()
})

test('no group, and no trace of one, where its files cannot be written', () => {
  // A plain folder: the kernel would have made memory.max in it.
  using made = scenarioFolder({ 'cgroup.controllers': 'cpu memory' })
  const own = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m)?.[1] ?? '/'
  mkdirSync(path.join(made.folder, own), { recursive: true })
  expect(createMemoryGroup(1234, 100, made.folder)).toBeUndefined()
  expect(existsSync(path.join(made.folder, own, 'agentgym-job-1234'))).toBe(false)
})
