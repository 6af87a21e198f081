import { open, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '@agentgym/registry/benchmarks'

/** What `explainSlowest` needs of the server. */
export const planSettings = [
  'shared_preload_libraries=auto_explain',
  'auto_explain.log_analyze=on',
  'auto_explain.log_nested_statements=on',
]
const mostLines = 40

/** The plan of the slowest statement of `work`, from PostgreSQL's own log; undefined if there is none. */
export async function explainSlowest(
  database: Database,
  log: string,
  work: () => Promise<unknown>,
): Promise<string | undefined> {
  const logPlans = async (above: number) => {
    await database.execute(`alter system set auto_explain.log_min_duration = ${above}`)
    await database.execute('select pg_reload_conf()')
    await delay(500)
  }
  await logPlans(1)
  const { size } = await stat(log)
  await work()
  await delay(200)
  const written = await readFrom(log, size)
  await logPlans(-1)
  const plans = [...written.matchAll(/duration: ([\d.]+) ms {2}plan:\n((?:\t.*\n?)+)/g)]
  const slowest = plans.toSorted((one, other) => Number(other[1]) - Number(one[1]))[0]
  return slowest && `${slowest[1]} ms\n${slowest[2].split('\n').slice(0, mostLines).join('\n')}`
}

async function readFrom(file: string, position: number): Promise<string> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(size - position), 0, size - position, position)
    return buffer.toString()
  } finally {
    await handle.close()
  }
}
