import type { AgentGymError } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { refuseCrossSiteWrite } from './request-limits.ts'

const publicUrl = 'http://localhost:4477'
const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

type Request = { method?: string; ownForm?: boolean; site?: string; origin?: string; type?: string; cookie?: boolean }

function isRefused({ method = 'POST', ownForm = false, site, origin, type, cookie = true }: Request): boolean {
  const headers: Record<string, string | undefined> = { 'sec-fetch-site': site, origin, 'content-type': type }
  try {
    refuseCrossSiteWrite({ method, header: (name) => headers[name] }, publicUrl, { cookie, form: ownForm })
    return false
  } catch (error) {
    expect((error as AgentGymError).code).toBe('forbidden')
    return true
  }
}

describe('refuseCrossSiteWrite', () => {
  it.each<Request>([
    { type: json },
    { type: 'Application/JSON; charset=utf-8' },
    { type: json, site: 'same-origin', origin: publicUrl },
    { type: json, origin: 'http://127.0.0.1:4477' },
    { type: json, origin: 'http://[::1]:4477' },
    { method: 'PUT', type: 'application/octet-stream', origin: publicUrl },
    { method: 'DELETE' },
    { method: 'GET', site: 'cross-site', origin: 'https://evil.example' },
    { method: 'HEAD', site: 'cross-site' },
    { ownForm: true, type: form, origin: publicUrl },
    { cookie: false },
    { cookie: false, type: form },
  ])('lets %j pass', (request) => {
    expect(isRefused(request)).toBe(false)
  })

  it.each<Request>([
    {},
    { type: form },
    { type: 'text/plain' },
    { type: 'multipart/form-data; boundary=x' },
    { type: 'text/plain; application/json' },
    { method: 'PUT', type: 'text/plain' },
    { type: json, site: 'cross-site' },
    { type: json, site: 'same-site' },
    { type: json, site: 'none' },
    { type: json, site: 'same-origin', origin: 'https://evil.example' },
    { type: json, site: 'cross-site', origin: publicUrl },
    { type: json, origin: 'null' },
    { type: json, origin: '' },
    { type: json, origin: 'http://localhost:4478' },
    { type: json, origin: 'https://localhost:4477' },
    { type: json, origin: 'http://localhost.evil.example:4477' },
    { method: 'DELETE', origin: 'https://evil.example' },
    { method: 'PATCH', site: 'cross-site' },
    { ownForm: true, type: form, origin: 'https://evil.example' },
    { ownForm: false, type: form },
    { cookie: false, type: json, origin: 'https://evil.example' },
  ])('refuses %j', (request) => {
    expect(isRefused(request)).toBe(true)
  })
})
