import { AgentGymError } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { namingProxy, proxyFor } from './find-proxy.ts'

const proxy = 'http://proxy.example:3128'
const found = (address: string, environment: Record<string, string>) => proxyFor(address, environment)?.url.href
const exempt = (address: string, list: string) => found(address, { HTTP_PROXY: proxy, NO_PROXY: list }) === undefined

describe('proxyFor', () => {
  it('reads the variable of the protocol, lower case first, and ALL_PROXY for both', () => {
    const environment = { HTTP_PROXY: 'http://a:1', https_proxy: 'http://b:2', HTTPS_PROXY: 'http://c:3' }
    expect(found('http://gym.example', environment)).toBe('http://a:1/')
    expect(found('https://gym.example', environment)).toBe('http://b:2/')
    expect(found('https://gym.example', { HTTP_PROXY: 'http://a:1' })).toBeUndefined()
    expect(found('https://gym.example', { ALL_PROXY: 'http://a:1' })).toBe('http://a:1/')
    expect(found('http://gym.example', { HTTP_PROXY: '' })).toBeUndefined()
    expect(found('http://gym.example', { HTTP_PROXY: 'proxy.example:3128' })).toBe('http://proxy.example:3128/')
  })

  it.each(['socks5://proxy.example:1080', 'http://', 'proxy example'])('refuses %s, without showing it', (text) => {
    const error = (() => {
      try {
        return proxyFor('http://gym.example', { HTTP_PROXY: text })
      } catch (reason) {
        return reason
      }
    })()
    expect(error).toMatchObject({ code: 'config_invalid', data: { field: 'HTTP_PROXY' } })
    expect(String((error as Error).message)).not.toContain(text)
  })

  it.each([
    ['http://gym.example', 'gym.example', true],
    ['http://gym.example', 'GYM.example', true],
    ['http://a.gym.example', 'gym.example', true],
    ['http://a.gym.example', '.gym.example', true],
    ['http://a.gym.example', '*.gym.example', true],
    ['http://gym.example', '.gym.example', true],
    ['http://notgym.example', 'gym.example', false],
    ['http://gym.example.evil', 'gym.example', false],
    ['http://gym.example', 'other.example gym.example', true],
    ['http://gym.example', 'other.example,gym.example', true],
    ['http://gym.example', '*', true],
    ['http://gym.example', '', false],
    ['http://gym.example', '.', false],
    ['http://gym.example:8080', 'gym.example:8080', true],
    ['http://gym.example', 'gym.example:8080', false],
    ['http://gym.example', 'gym.example:80', true],
    ['http://gym.example.:8080', 'gym.example:8080', true],
    ['http://10.1.2.3', '10.1.2.3', true],
    ['http://10.1.2.3', '10.0.0.0/8', true],
    ['http://10.1.2.3:90', '10.0.0.0/8:90', true],
    ['http://11.1.2.3', '10.0.0.0/8', false],
    ['http://11.1.2.3', '10.0.0.0/99', false],
    ['http://10.1.2.3', '2.3', false],
    ['http://[fd00::7]', 'fd00::/8', true],
    ['http://[fd00::7]:90', '[fd00::7]:90', true],
    ['http://[fd00::7]', '[fd00::8]', false],
  ])('%s with NO_PROXY=%s: direct %s', (address, list, direct) => {
    expect(exempt(address, list)).toBe(direct)
  })

  it.each(['http://localhost:4477', 'http://127.0.0.1:4477', 'http://[::1]:4477', 'http://gym.localhost'])(
    'uses no remote proxy for %s',
    (address) => {
      expect(found(address, { HTTP_PROXY: proxy })).toBeUndefined()
      expect(found(address, { HTTP_PROXY: 'http://127.0.0.1:3128' })).toBe('http://127.0.0.1:3128/')
      expect(found(address, { HTTP_PROXY: 'http://localhost:3128', NO_PROXY: new URL(address).hostname })).toBe(
        undefined,
      )
    },
  )
})

describe('namingProxy', () => {
  it('names the proxy of an unreachable server, without its password', () => {
    const error = new AgentGymError({
      code: 'server_unreachable',
      message: 'The server http://gym.example did not answer.',
      data: { server: 'http://gym.example' },
    })
    const named = namingProxy(error, { HTTP_PROXY: 'http://ann:hunter2@proxy.example:3128' }) as AgentGymError
    expect(named.hint).toContain('http://proxy.example:3128 (HTTP_PROXY)')
    expect(JSON.stringify(named.toReport())).not.toContain('hunter2')
    expect(namingProxy(error, {})).toBe(error)
  })
})
