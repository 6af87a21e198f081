import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { readSettings } from './read-settings.ts'

const read = (environment: NodeJS.ProcessEnv = {}, options = {}) => readSettings({ environment, ...options })

describe('readSettings', () => {
  it('needs no settings: everything is in one folder', () => {
    const settings = read({ AGENTGYM_HOME: '/srv/gym' })
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      port: 4477,
      publicUrl: null,
      database: { folder: '/srv/gym/server/database' },
      objects: { folder: '/srv/gym/server/objects' },
      mail: { transport: null, folder: '/srv/gym/server/mail' },
      secret: null,
      config: { data: '/srv/gym/server', trustedProxies: 0, oauth: {} },
    })
  })

  it('options override the environment, and empty variables are unset', () => {
    const environment = {
      AGENTGYM_PORT: '1',
      AGENTGYM_DATA: '/a',
      AGENTGYM_PUBLIC_URL: 'https://a.example/',
      DATABASE_URL: '',
    }
    expect(read(environment)).toMatchObject({ port: 1, publicUrl: 'https://a.example', config: { data: '/a' } })
    const options = { port: 2, data: '/b', publicUrl: 'https://b.example' }
    expect(read(environment, options)).toMatchObject({
      port: 2,
      publicUrl: 'https://b.example',
      config: { data: '/b' },
    })
  })

  it('reads a signing key in PEM, with real or escaped line breaks, and never shows it', () => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    for (const text of [pem, pem.replaceAll('\n', '\\n')]) {
      const settings = read({ AGENTGYM_SIGNING_KEY: text })
      expect(settings.config.signingKey?.equals(privateKey)).toBe(true)
      expect(JSON.stringify(settings) + inspect(settings, { depth: 9 })).not.toContain(pem.split('\n')[1])
    }
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    expect(() => read({ AGENTGYM_SIGNING_KEY: String(rsa) })).toThrow(
      /^The setting AGENTGYM_SIGNING_KEY is not an Ed25519 private key in PEM\.$/,
    )
  })

  it('needs no folder with PostgreSQL and a bucket', () => {
    const settings = read({ DATABASE_URL: 'postgresql://db.example/gym', AGENTGYM_S3_BUCKET: 'gym' })
    expect(settings).toMatchObject({
      database: { url: 'postgresql://db.example/gym' },
      objects: { bucket: 'gym' },
      mail: { transport: null },
      config: { data: null },
    })
  })

  it.each<[string, string, RegExp]>([
    ['AGENTGYM_PORT', 'http', /a whole number/],
    ['AGENTGYM_PORT', '70000', /from 0 to 65535/],
    ['AGENTGYM_PUBLIC_URL', 'gym.example.com', /a URL with http: or https:/],
    ['AGENTGYM_PUBLIC_URL', 'https://example.com/gym', /a URL without a path/],
    ['AGENTGYM_PUBLIC_URL', 'https://example.com//gym/', /a URL without a path/],
    ['AGENTGYM_PUBLIC_URL', 'https://example.com/?gym', /a URL without a path/],
    ['AGENTGYM_PUBLIC_URL', 'https://example.com/#gym', /a URL without a path/],
    ['AGENTGYM_QUEUE_WEIGHTS', 'alice', /a list such as/],
    ['AGENTGYM_QUEUE_WEIGHTS', 'alice=0', /weights from 0.1 to 100/],
    ['AGENTGYM_CONFIRMED_EMAIL', 'yes', /required or optional/],
    ['AGENTGYM_TRUSTED_PROXIES', '-1', /a whole number/],
    ['AGENTGYM_SECRET', 'password', /32 bytes in hexadecimal/],
    ['AGENTGYM_SIGNING_KEY', 'password', /an Ed25519 private key in PEM/],
    ['AGENTGYM_LOG_LEVEL', 'verbose', /info, warn or error/],
    ['AGENTGYM_MAIL', 'sendmail', /"file", "console"/],
    ['DATABASE_URL', 'mysql://db.example/gym', /postgresql:/],
    ['AGENTGYM_S3_PATH_STYLE', 'maybe', /1 or 0/],
    ['AGENTGYM_METRICS_TOKEN', 'short', /at least 16 printable characters/],
    ['AGENTGYM_METRICS_TOKEN', 'with a space that no header has', /without a space/],
    ['AGENTGYM_PLATFORM_FEE_BASIS_POINTS', '10001', /from 0 to 10000/],
    ['AGENTGYM_ROYALTY_CAP_BASIS_POINTS', '9001', /add up to more than 10000/],
    ['AGENTGYM_PRICE_NOTICE_DAYS', '-1', /a whole number/],
    ['AGENTGYM_STRIPE_SECRET_KEY', 'short', /at least 8 printable characters/],
    ['AGENTGYM_STRIPE_API_ADDRESS', 'stripe.example', /http: or https:/],
    ['AGENTGYM_MONEY_ON_PGLITE', 'yes', /allow/],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318', /http: or https:/],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', /http\/protobuf/],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote', /always_on/],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5', /from 0 to 1/],
  ])('refuses %s=%s by name', (variable, value, message) => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }
    const environment = { ...endpoint, [variable]: value, AGENTGYM_S3_BUCKET: 'gym' }
    const failure = expect.objectContaining({
      code: 'config_invalid',
      message: expect.stringMatching(message),
      data: expect.objectContaining({ field: variable }),
    })
    expect(() => read(environment)).toThrow(failure)
  })

  it('never shows values that may contain a password', () => {
    for (const variable of [
      'AGENTGYM_STRIPE_SECRET_KEY',
      'AGENTGYM_SECRET',
      'AGENTGYM_MAIL',
      'AGENTGYM_METRICS_TOKEN',
      'DATABASE_URL',
    ])
      expect(() => read({ [variable]: 'hunter2' })).toThrow(expect.not.stringContaining('hunter2'))
  })

  it('enables tracing only by the standard endpoint variables', () => {
    const endpoint = 'https://otel.example.com:4318/base/'
    const url = 'https://otel.example.com:4318/base/v1/traces'
    expect(read().tracing).toBeNull()
    // Variables for other programs on the machine are ignored.
    const ofOthers = { OTEL_TRACES_SAMPLER: 'jaeger_remote', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    expect(read(ofOthers).tracing).toBeNull()
    const switchedOff = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' }
    expect(read({ ...switchedOff, ...ofOthers }).tracing).toBeNull()
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'TRUE' }).tracing).toBeNull()
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).tracing).toEqual({
      url,
      sampler: { name: 'parentbased_always_on', ratio: 1 },
    })
    const whole = 'http://traces.example.com/in'
    const sampled = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }
    expect(
      read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole, ...sampled }).tracing,
    ).toEqual({ url: whole, sampler: { name: 'traceidratio', ratio: 0.25 } })
  })

  it('defaults to a 10% fee and test money, and requires both Stripe secrets or none', () => {
    expect(read().config.market).toEqual({
      feeBasisPoints: 1_000,
      royaltyCapBasisPoints: 2_000,
      priceNoticeDays: 7,
      payoutHoldDays: 14,
      stripe: null,
      moneyOnPglite: false,
    })
    const stripe = { AGENTGYM_STRIPE_SECRET_KEY: 'sk_test_1234', AGENTGYM_STRIPE_WEBHOOK_SECRET: 'whsec_1234' }
    expect(read(stripe).config.market.stripe).toEqual({
      secretKey: 'sk_test_1234',
      webhookSecret: 'whsec_1234',
      apiAddress: null,
    })
    for (const name of Object.keys(stripe))
      expect(() => read({ ...stripe, [name]: '' })).toThrow(new RegExp(`${name} is required`))
  })

  it('requires OAuth client IDs and secrets in pairs', () => {
    const github = { AGENTGYM_GITHUB_CLIENT_ID: 'id', AGENTGYM_GITHUB_CLIENT_SECRET: 'secret' }
    expect(read(github).config.oauth).toEqual({ github: { clientId: 'id', clientSecret: 'secret' } })
    expect(() => read({ AGENTGYM_GOOGLE_CLIENT_ID: 'id' })).toThrow(/AGENTGYM_GOOGLE_CLIENT_SECRET is required/)
  })
})
