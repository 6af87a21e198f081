import { describe, expect, it } from 'vitest'
import { AgentGymError } from './agent-gym-error.ts'
import { fileFailure, namingFile } from './file-failure.ts'

const failed = (code: string, more: object = {}) => Object.assign(new Error(`${code}: it failed`), { code, ...more })

describe('fileFailure (C12)', () => {
  it.each([
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_quota_exceeded'],
    ['EROFS', 'disk_read_only'],
    ['EACCES', 'file_access_denied'],
    ['EPERM', 'file_access_denied'],
    ['EMFILE', 'too_many_open_files'],
    ['ENFILE', 'too_many_open_files'],
  ])('%s is %s, with the path and a hint', (reason, code) => {
    const error = fileFailure(failed(reason), '/data/agent') as AgentGymError
    expect(error).toBeInstanceOf(AgentGymError)
    expect(error).toMatchObject({ code, data: { path: '/data/agent', reason } })
    expect(error.message).toContain('/data/agent')
    expect(error.hint).toBeTruthy()
    expect(error.cause).toMatchObject({ code: reason })
    expect(fileFailure(failed(reason, { path: '/own' }))).toMatchObject({ code, data: { path: '/own' } })
    expect((fileFailure(failed(reason)) as Error).message).toContain('a file')
  })

  it('leaves other errors unchanged', async () => {
    const nested = failed('ENOENT', { syscall: 'mkdir', path: '/ro/a' })
    expect(fileFailure(nested)).toMatchObject({ code: 'disk_read_only', data: { path: '/ro/a' } })
    const others = [failed('ENOENT'), failed('EACCES', { syscall: 'listen' }), new TypeError('x'), 'text']
    for (const error of others) expect(fileFailure(error, '/x')).toBe(error)
    const expected = new AgentGymError({ code: 'usage_invalid', message: 'x' })
    await expect(namingFile('/x', () => Promise.reject(expected))).rejects.toBe(expected)
    expect(await namingFile('/x', async () => 7)).toBe(7)
  })
})
