import { expect, it } from 'vitest'
import { goodTarball } from '../../../../testdata/tarballs/good-package.ts'
import { readTarball } from './read-tarball.ts'
import { rewriteTarball } from './rewrite-tarball.ts'

const limits = { tarballBytes: 2 ** 20, unpackedBytes: 2 ** 25, files: 100, ratio: 10_000 }

it('large packages take turns; a failed one passes its turn on', async () => {
  const large = goodTarball({}, [{ path: 'package/zeros', body: Buffer.alloc(17 * 2 ** 20) }])
  const read = await readTarball(large, limits)
  const damaged = large.subarray(0, large.length - 9)
  const turns = await Promise.allSettled(
    Array.from({ length: 8 }, (_, index) => rewriteTarball(index < 4 ? damaged : large, limits, read)),
  )
  expect(turns.map(({ status }) => status)).toEqual([...Array(4).fill('rejected'), ...Array(4).fill('fulfilled')])
  const written = turns.flatMap((turn) => (turn.status === 'fulfilled' ? [turn.value.tarball.integrity] : []))
  expect(new Set(written).size).toBe(1)
})
