import { expect, it } from 'vitest'
import { Dependencies } from './dependencies.ts'
import { Outage, outageIn } from './outage.ts'

function watched() {
  const broken = new Set<string>()
  const logged: [message: string, data: Record<string, unknown> | undefined][] = []
  const log = (message: string, data?: Record<string, unknown>) => void logged.push([message, data])
  const probe = (name: 'database' | 'storage') => async () => {
    if (broken.has(name)) throw new Outage(name, new Error('connect ECONNREFUSED 127.0.0.1:9'))
  }
  const probes = { database: probe('database'), storage: probe('storage') }
  return { broken, logged, dependencies: new Dependencies(probes, { warn: log, error: log }) }
}

it('names dependencies that are down, and logs each change once', async () => {
  const { broken, logged, dependencies } = watched()
  expect(await dependencies.check()).toEqual([])
  broken.add('storage')
  expect(await dependencies.check()).toEqual(['storage'])
  expect(await dependencies.check()).toEqual(['storage'])
  expect([dependencies.isUp('database'), dependencies.isUp('storage')]).toEqual([true, false])
  broken.add('database')
  expect(await dependencies.check()).toEqual(['database', 'storage'])
  broken.clear()
  expect(await dependencies.check()).toEqual([])
  expect(logged.map(([message, data]) => [message, data?.dependency])).toEqual([
    ['a dependency is down', 'storage'],
    ['a dependency is down', 'database'],
    ['a dependency is back', 'database'],
    ['a dependency is back', 'storage'],
  ])
  expect(logged[0][1]?.error).toBe('connect ECONNREFUSED 127.0.0.1:9')
})

it('shares one probe among concurrent callers', async () => {
  let probes = 0
  const count = async () => void probes++
  const silent = { warn() {}, error() {} }
  const dependencies = new Dependencies({ database: count, storage: async () => {} }, silent)
  await Promise.all([dependencies.check(), dependencies.check(), dependencies.check()])
  expect(probes).toBe(1)
  await dependencies.check()
  expect(probes).toBe(2)
})

it('an outage names its dependency to clients, and its cause only in the log', () => {
  const outage = new Outage('database', new Error('connect ECONNREFUSED 10.0.0.7:5432'))
  expect(outage.message).toContain('10.0.0.7')
  expect(outage.toReport()).toMatchObject({
    code: 'database_unavailable',
    data: { dependency: 'database', retry_after_seconds: 5 },
  })
  expect(JSON.stringify(outage.toReport())).not.toContain('10.0.0.7')
  expect(outageIn(new Error('while publishing', { cause: outage }))).toBe(outage)
  expect(outageIn(new Error('a bug'))).toBeUndefined()
})
