import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCliProcess } from '@agentgym/testkit/command-line'
import { afterAll, expect, it } from 'vitest'
import { readSecretFiles } from './secret-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-secret-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

it('takes a secret from the file that NAME_FILE names, without the line break at its end', () => {
  const token = write('token', 'a b\n')
  const environment = {
    AGENTGYM_TOKEN_FILE: token,
    AGENTGYM_SIGNING_KEY_FILE: write('key', 'first\nsecond\r\n'),
    AGENTGYM_SECRET_FILE: '',
    AWS_WEB_IDENTITY_TOKEN_FILE: token,
    DATABASE_URL: 'postgresql://db/gym',
  }
  readSecretFiles(environment)
  expect(environment).toEqual({
    AGENTGYM_TOKEN: 'a b',
    AGENTGYM_SIGNING_KEY: 'first\nsecond',
    AGENTGYM_SECRET_FILE: '',
    // The SDK of the store reads this one itself.
    AWS_WEB_IDENTITY_TOKEN_FILE: token,
    DATABASE_URL: 'postgresql://db/gym',
  })
})

it.each([
  ['is missing', { AGENTGYM_TOKEN_FILE: join(folder, 'nothing') }, 'cannot be read (ENOENT)'],
  ['is empty', { AGENTGYM_TOKEN_FILE: write('empty', '\n') }, 'which is empty'],
  ['is one of two', { AGENTGYM_TOKEN_FILE: write('one', 'x'), AGENTGYM_TOKEN: 'y' }, 'Both AGENTGYM_TOKEN and'],
])('names the setting whose file %s', (_, environment, message) => {
  expect(() => readSecretFiles(environment)).toThrow(
    expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(message) }),
  )
})

it('is done by the command itself, before anything else', async () => {
  const environment = { AGENTGYM_TOKEN_FILE: join(folder, 'nowhere') }
  const { status, stderr } = await runCliProcess(['whoami'], { environment })
  expect(status).not.toBe(0)
  expect(stderr).toContain('AGENTGYM_TOKEN_FILE')
})
