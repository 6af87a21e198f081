import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PersonalData, standInPattern } from './personal-data.ts'

/** What a text looks like with stand-ins reduced to their kinds. */
const kinds = (text: string, options = {}) => new PersonalData(options).text(text).replace(standInPattern, '<$1>')

describe('masks', () => {
  it.each([
    ['write to ann.smith+x@mail.example.co.uk, please', 'write to <EMAIL>, please'],
    ['IBAN DE89 3704 0044 0532 0130 00 or GB82WEST12345698765432.', 'IBAN <IBAN> or <IBAN>.'],
    ['card 4111 1111 1111 1111, 4111-1111-1111-1111 and 378282246310005', 'card <CARD>, <CARD> and <CARD>'],
    ['from 192.168.0.17 and 2001:db8::ff00:42:8329', 'from <IP> and <IP>'],
    ['call +44 20 7946 0958 or +1 (212) 555-0123 now', 'call <PHONE> or <PHONE> now'],
    ['key sk-proj-abcDEF1234567890abcd and ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'key <API_KEY> and <API_KEY>'],
    ['AKIAIOSFODNN7EXAMPLE, xoxb-123456789012-abcdef, sk_live_abcdefghij1234', '<API_KEY>, <API_KEY>, <API_KEY>'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_w', '<JWT>'],
    ['postgres://app:hunter2@db.internal/x', 'postgres://app:<PASSWORD>@db.internal/x'],
    ['my password is hunter2!', 'my password is <PASSWORD>'],
    ['{"api_key": "abcd1234"}', '{"api_key": "<PASSWORD>"}'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '<PRIVATE_KEY>'],
    ['session 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'session <SECRET>'],
    ['token aB3dE5fG7hI9jK1lM3nO5pQ7rS9t', 'token <SECRET>'],
  ])('%j', (text, masked) => expect(kinds(text)).toBe(masked))

  it('national phone numbers of a named country', () => {
    expect(kinds('call 020 7946 0958', { country: 'GB' })).toBe('call <PHONE>')
    expect(kinds('call (212) 555-0123', { country: 'US' })).toBe('call <PHONE>')
  })
})

it.each([
  'order 4111 1111 1111 1112 of 2026-11-30 12:30:45',
  'version 1.2.3, 300.1.1.1, ratio 12:30:45, 10.5',
  'DE89 3704 0044 0532 0130 01 fails its check',
  'id 123e4567-e89b-12d3-a456-426614174000 for A-1234',
  'refund_order_for_customers_of_yesterday is a tool',
  'the parcel of Monday came late @ noon',
])('leaves %j as it is', (text) => expect(kinds(text)).toBe(text))

describe('stand-ins', () => {
  it('are the same for the same value, in texts and arguments, however it is written', () => {
    const mask = new PersonalData()
    const [one] = mask.text('I am Ann@Example.com').match(standInPattern) ?? []
    expect(mask.text('ann@example.com wrote')).toBe(`${one} wrote`)
    expect(mask.json({ customer: { email: 'ann@example.com' } })).toEqual({ customer: { email: one } })
    expect(mask.text('4111 1111 1111 1111')).toBe(mask.text('4111-1111-1111-1111'))
    expect(mask.report).toMatchObject({ email: 3, card: 2, phone: 0 })
  })

  it('differ between values, and between runs', () => {
    const mask = new PersonalData()
    const all = Array.from({ length: 1_000 }, (_, i) => mask.text(`c${i}@example.com`))
    expect(new Set(all).size).toBe(1_000)
    expect(new PersonalData().text('c0@example.com')).not.toBe(all[0])
  })

  it('are not masked again', () => {
    fc.assert(
      fc.property(fc.constantFrom('a@b.co', '192.168.0.1', '+442079460958', 'sk-abcdefghijklmnop1234'), (value) => {
        const mask = new PersonalData()
        const once = mask.text(`x ${value} y`)
        expect(mask.text(once)).toBe(once)
      }),
    )
  })
})

describe('fields', () => {
  it('of names and secrets are masked whatever they hold, and others by their values alone', () => {
    const masked = new PersonalData({ fields: ['diagnosis'] }).json({
      first_name: 'Ann',
      customer: { fullName: 'Ann Smith', city: 'Berlin', diagnosis: { code: 7 } },
      'api-key': 'x',
      list: [{ password: 'p' }, 'bob@example.com'],
      phone: 442079460958,
      amount: 1234567,
      active: true,
    })
    const json = JSON.stringify(masked).replace(standInPattern, '<$1>')
    expect(JSON.parse(json)).toMatchObject({
      first_name: '<FIELD>',
      customer: { fullName: '<FIELD>', city: 'Berlin', diagnosis: '<FIELD>' },
      'api-key': '<FIELD>',
      list: [{ password: '<FIELD>' }, '<EMAIL>'],
      amount: 1234567,
      active: true,
    })
  })

  it('are masked in the texts beside them as well', () => {
    const mask = new PersonalData()
    const values = mask.fieldValues({ customer: { name: 'Ann Smith', note: 'Berlin' } })
    expect(mask.textWith('Ann Smith of Berlin waits', values)).toMatch(/^FIELD_[a-z]{8} of Berlin waits$/)
  })
})

it('never throws, and masks every generated address', () => {
  fc.assert(
    fc.property(fc.emailAddress(), fc.string(), fc.jsonValue(), (email, text, json) => {
      const mask = new PersonalData()
      mask.json(json)
      mask.text(text)
      if (/^[A-Za-z0-9.]+@/.test(email)) expect(mask.text(`a ${email} b`)).not.toContain(email)
    }),
  )
})
