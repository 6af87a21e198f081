import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('a scenario that replaces every built-in plays, fails and waits exactly like one that does not', () => {
  const script = fileURLToPath(new URL('../../test/tampered-run.ts', import.meta.url))
  const options = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', script]
  const { stdout, stderr, status } = spawnSync(process.execPath, options, { encoding: 'utf8' })
  expect({ stdout: stdout.trim().split('\n'), stderr, status }).toEqual({
    stdout: [
      'tampered: true',
      'differences: 0',
      'step returned the reward the string "much"; step threw: null',
      'waits',
      'waits',
      'waits',
      'done',
    ],
    stderr: '',
    status: 0,
  })
})
