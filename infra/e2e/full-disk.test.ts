// @module-tag full
import { join } from 'node:path'
import { noSmallDisk, onSmallDisk } from '@agentgym/testkit/small-disk'
import { isLong } from '@agentgym/testkit/tier'
import { describe, expect, it } from 'vitest'

const program = join(import.meta.dirname, 'full-disk.process.ts')

async function on(kind: string, size: string): Promise<Record<string, unknown>> {
  const said = await onSmallDisk(size, `"$NODE" --conditions agentgym-source "$PROGRAM" ${kind} | say result`, {
    NODE: process.execPath,
    PROGRAM: program,
  })
  return JSON.parse(said.result)
}

/** Elsewhere, the reason is the title of the only test. */
if (noSmallDisk !== null) it(`cannot test full disks here: ${noSmallDisk}`, () => {})
else
  describe('while the disk is full', { timeout: 300_000 }, () => {
    const refused = 'database_unavailable'

    it.each([
      ['an embedded database', 'pglite', '200m'],
      ['PostgreSQL', 'postgresql', '160m'],
    ])(
      '%s refuses writes, reads, has all that was acknowledged, and goes on as soon as there is space',
      async (_, kind, size) => {
        expect(await on(kind, size)).toEqual({
          ...{ refused, again: refused, upload: refused, read: 'ok' },
          ...{ kept: 'ok', state: 'checking', alive: true },
        })
      },
    )

    // It waits for a lease to end, a minute.
    if (isLong)
      it('a worker judges no version, says why, and checks it as soon as there is space', async () => {
        const { events, ...result } = await on('worker', '40m')
        expect(result).toEqual({ during: 'checking', alive: true, state: 'published' })
        expect(events).toContain('"code":"disk_full"')
      })
  })
