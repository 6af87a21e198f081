import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { restorePostgresqlDatabase } from '@agentgym/testkit/postgresql'

/** What version 0.1.0 left behind: testdata/databases/README.md says how it was made. */
const folder = join(import.meta.dirname, '../../testdata/databases/0.1.0')

export type Name = 'operator' | 'author' | 'builder' | 'buyer' | 'guest'
type Left = {
  tokens: Record<Name, string>
  jobs: {
    /** Leased to a worker that never came back. */
    check: { id: string; lease: string }
    runs: Record<'interrupted' | 'released' | 'cancelled' | 'waiting', string>
  }
  answers: { as: Name; path: string; answer: unknown }[]
}

/** What changes with time alone: holds that end, deadlines that pass, counts that a task updates, and the server's address. */
export const dated = ['cleared_minor', 'held_minor', 'refundable', 'quality', 'updated_at', 'downloads', 'tarball']
/** What version 0.1.0 did not know of an agent: it looked for the algorithm in package.json alone. */
export const learned = (path: string): string[] => (path === '/v1/packages/@builder/balancer' ? ['algorithm'] : [])
export function withoutFields(value: unknown, fields: string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, fields))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      fields.includes(name) ? [] : [[name, withoutFields(part, fields)]],
    ),
  )
}

export function leftBehind(kind: 'postgresql' | 'pglite'): Left {
  return JSON.parse(readFileSync(join(folder, kind, 'answers.json'), 'utf8'))
}

/** The folder of a server of 0.1.0, unpacked, and the address of its database; undefined for the one in the folder. */
export async function unpackOldInstallation(kind: 'postgresql' | 'pglite') {
  const data = mkdtempSync(join(tmpdir(), 'agentgym-upgrade-'))
  const tar = zstdDecompressSync(readFileSync(join(folder, kind, 'data.tar.zst')))
  execFileSync('tar', ['-x', '-C', data], { input: tar })
  const dump = () => gunzipSync(readFileSync(join(folder, kind, 'database.sql.gz'))).toString('utf8')
  return { data, url: kind === 'postgresql' ? await restorePostgresqlDatabase(dump()) : undefined }
}
