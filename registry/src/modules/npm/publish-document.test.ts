import { createHash } from 'node:crypto'
import { AgentGymError } from '@agentgym/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { documentSlots, parsePutDocument } from './publish-document.ts'

describe('publish document', () => {
  const tarball = Buffer.from('not a tarball: that is for others to find')
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`

  function document(changes: Record<string, unknown> = {}): Record<string, unknown> {
    return {
      _id: '@t/s',
      name: '@t/s',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: '@t/s', version: '1.0.0', dist: { integrity, shasum: undefined } } },
      access: null,
      _attachments: {
        '@t/s-1.0.0.tgz': {
          content_type: 'application/octet-stream',
          data: tarball.toString('base64'),
          length: tarball.byteLength,
        },
      },
      ...changes,
    }
  }

  const parse = (changes?: Record<string, unknown>) => parsePutDocument('@t/s', JSON.stringify(document(changes)))

  it('reads tarball, version, tag and visibility of a publish, and its manifest only for comparison', () => {
    expect(parse()).toEqual({
      kind: 'publish',
      publish: {
        version: '1.0.0',
        tag: undefined,
        visibility: undefined,
        declared: expect.objectContaining({ name: '@t/s', version: '1.0.0' }),
        tarball,
      },
    })
    expect(parse({ 'dist-tags': { next: '1.0.0' }, access: 'restricted' })).toMatchObject({
      publish: { tag: 'next', visibility: 'private' },
    })
    expect(parse({ access: 'public' })).toMatchObject({ publish: { visibility: 'public' } })
  })

  it('treats a publish with `deprecated` in its manifest as a publish', () => {
    const versions = { '1.0.0': { name: '@t/s', version: '1.0.0', deprecated: 'old', dist: { integrity } } }
    expect(parse({ versions })).toMatchObject({ kind: 'publish', publish: { version: '1.0.0' } })
  })

  it('reads the messages of a deprecation', () => {
    const versions = { '1.0.0': { deprecated: 'use 2' }, '1.1.0': {}, '1.2.0': { deprecated: '' } }
    const request = parse({ _rev: '3-abc', versions, _attachments: {} })
    expect(request).toEqual({
      kind: 'deprecate',
      deprecations: {
        revision: '3-abc',
        messages: new Map([
          ['1.0.0', 'use 2'],
          ['1.1.0', ''],
          ['1.2.0', ''],
        ]),
      },
    })
  })

  describe('refuses', () => {
    const one = { data: tarball.toString('base64') }
    const cases: Record<string, Record<string, unknown>> = {
      'another name': { name: '@t/other' },
      'no name': { name: 7 },
      'two versions': { versions: { '1.0.0': {}, '1.0.1': {} } },
      'no version': { versions: {} },
      'two attachments': { _attachments: { a: one, b: one } },
      'a tag on another version': { 'dist-tags': { latest: '0.9.0' } },
      'two tags': { 'dist-tags': { latest: '1.0.0', next: '1.0.0' } },
      'a tarball that is no base64': { _attachments: { a: { data: 'a*b=' } } },
      'base64 that was cut': { _attachments: { a: { data: one.data.slice(0, -1) } } },
      'another length': { _attachments: { a: { ...one, length: 3 } } },
      'another sha512': { versions: { '1.0.0': { dist: { integrity: 'sha512-AAAA' } } } },
      'another sha1': { versions: { '1.0.0': { dist: { shasum: '0'.repeat(40) } } } },
      'neither tarball nor versions': { versions: undefined, _attachments: undefined, users: { me: true } },
    }
    it.each(Object.keys(cases))('%s', (name) => {
      expect(() => parse(cases[name])).toThrow(expect.objectContaining({ code: 'request_invalid' }))
    })

    it('a body that is not JSON', () => {
      expect(() => parsePutDocument('@t/s', '{')).toThrow(AgentGymError)
    })
  })

  it('returns a request or request_invalid for any JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          parsePutDocument('@t/s', text)
        } catch (error) {
          expect(error).toBeInstanceOf(AgentGymError)
        }
      }),
    )
  })

  it('returns any tarball byte for byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const request = parse({
          versions: { '1.0.0': {} },
          _attachments: { a: { data: Buffer.from(bytes).toString('base64') } },
        })
        expect(request.kind === 'publish' && Buffer.from(bytes).equals(request.publish.tarball)).toBe(true)
      }),
    )
  })
})

describe('document slots', () => {
  it('limits concurrent documents per account, not across accounts', async () => {
    const inSlot = documentSlots(2)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const underWay = [inSlot('ada', () => released), inSlot('ada', () => released)]
    await expect(inSlot('ada', async () => {})).rejects.toMatchObject({ code: 'rate_limited' })
    expect(await inSlot('bea', async () => 'done')).toBe('done')
    release()
    await Promise.all(underWay)
    expect(await inSlot('ada', async () => 'done')).toBe('done')
  })

  it('releases a slot if the work fails', async () => {
    const inSlot = documentSlots(1)
    const failing = async () => {
      throw new Error('no')
    }
    for (let round = 0; round < 3; round++) await expect(inSlot('ada', failing)).rejects.toThrow('no')
  })
})
