import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { floorViolations, moduleTable, tableFaults } from './registry-modules.ts'
import { repositoryRoot, sourceFiles } from './repository-files.ts'

const table = moduleTable(readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8'))

describe('the modules of the registry', () => {
  it('are those of the table in ARCHITECTURE.md, each above those that import it', () => {
    const folders = readdirSync(join(repositoryRoot, 'registry/src/modules'))
    expect(table.map(({ name }) => name).sort()).toEqual(folders.sort())
    expect(tableFaults(table)).toEqual([])
  })

  it('import each other as in the table, through one file per module, without circular folders', () => {
    const files = sourceFiles('.ts').map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }))
    expect(floorViolations(files, table)).toEqual([])
  })
})

describe('detects violations', () => {
  const rows = [
    { name: 'ledger', mayImport: [] },
    { name: 'orders', mayImport: ['ledger'] },
  ]
  const file = (path: string, text: string) => ({ path: `registry/src/${path}`, text })

  it.each([
    ['an import upwards', file('modules/ledger/post.ts', "import { order } from '../orders/index.ts'")],
    ['a type import upwards', file('modules/ledger/post.ts', "import type { Order } from '../orders/index.ts'")],
    ['an import past the face', file('modules/orders/place.ts', "import { post } from '../ledger/post.ts'")],
    ['the app past the face', file('app/app.ts', "import { post } from '../modules/ledger/post.ts'")],
  ])('on %s', (_what, planted) => {
    expect(floorViolations([planted], rows)).toHaveLength(1)
  })

  it('on circular folders without circular files', () => {
    const circle = [
      file('core/queue/lease.ts', "import type { Log } from '../http/log.ts'"),
      file('core/http/route.ts', "import { queue } from '../queue/queue.ts'"),
    ]
    expect(floorViolations(circle, rows)).toEqual(['core/queue: in a circle', 'core/http: in a circle'])
  })

  it('on an unordered table', () => {
    expect(tableFaults([...rows].reverse())).toEqual(['orders may import ledger, which is not above it in the table'])
  })

  it('but not on allowed imports', () => {
    const allowed = [
      file('modules/orders/place.ts', "import { post } from '../ledger/index.ts'\nimport { own } from './own.ts'"),
      file('modules/orders/place.test.ts', "import { post } from '../ledger/post.ts'"),
      file('app/app.ts', "import { orders } from '../modules/orders/index.ts'"),
    ]
    expect(floorViolations(allowed, rows)).toEqual([])
  })
})
