import { describe, expect, it } from 'vitest'
import { isDatabaseOutage } from './database-outage.ts'

const coded = (code: string, message = 'refused') => Object.assign(new Error(message), { code })

describe('isDatabaseOutage', () => {
  it.each([
    ['57P01', 'terminating connection due to administrator command'],
    ['57P02', 'terminating connection because of crash of another server process'],
    ['57P03', 'the database system is starting up'],
    ['57P05', 'terminating connection due to idle-session timeout'],
    ['53300', 'sorry, too many clients already'],
    ['53100', 'could not extend file: No space left on device'],
    ['58030', 'could not read block'],
    ['08000', 'connection exception'],
    ['08003', 'connection does not exist'],
    ['08006', 'connection failure'],
    ['08P01', 'protocol violation'],
    ['25006', 'cannot execute INSERT in a read-only transaction'],
  ])('%s: %s', (code, message) => {
    expect(isDatabaseOutage(coded(code, message))).toBe(true)
  })

  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  ])('an error %s of the socket', (code) => {
    expect(isDatabaseOutage(coded(code))).toBe(true)
    // As Node reports a host with several addresses.
    expect(isDatabaseOutage(new AggregateError([coded(code), coded('EINVAL')]))).toBe(true)
  })

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ])('messages of node-postgres without a code: %s', (message) => {
    expect(isDatabaseOutage(new Error(message))).toBe(true)
  })

  it.each([
    coded('23505', 'duplicate key value violates unique constraint'),
    coded('40001', 'could not serialize access'),
    coded('40P01', 'deadlock detected'),
    coded('42P01', 'relation does not exist'),
    coded('57014', 'canceling statement due to statement timeout'),
    coded('28P01', 'password authentication failed'),
    new Error('the connection terminated'),
    new TypeError('undefined is not a function'),
    'ECONNREFUSED',
    undefined,
  ])('not %s', (error) => {
    expect(isDatabaseOutage(error)).toBe(false)
  })
})
