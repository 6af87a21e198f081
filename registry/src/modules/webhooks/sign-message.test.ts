import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, describe, expect, it } from 'vitest'
import { makeWebhookSecret, signedHeaders } from './sign-message.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentgym-webhooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const now = () => Math.floor(Date.now() / 1_000)
const body = JSON.stringify({ type: 'webhook.test', text: 'Grüße, "世界"' })
const secret = makeWebhookSecret()
const sign = (secrets: string[], timestampSeconds = now()) =>
  signedHeaders({ id: crypto.randomUUID(), timestampSeconds, body }, secrets)

it('signs as the reference library does', () => {
  const at = new Date(now() * 1_000)
  expect(signedHeaders({ id: 'msg_1', timestampSeconds: at.getTime() / 1_000, body }, [secret])).toEqual({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  })
  expect(new Webhook(secret).verify(body, sign([makeWebhookSecret(), secret]))).toEqual(JSON.parse(body))
})

/** The code that docs/webhooks.md shows, as a program that verifies the message in a file. */
const programs = {
  ts: {
    command: process.execPath,
    tail: `
import { readFileSync } from 'node:fs'
const { secret, headers, body } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
console.log(JSON.stringify(verifyWebhook(secret, headers, body)))`,
  },
  python: {
    command: 'python3',
    tail: `
import sys
given = json.load(open(sys.argv[1]))
print(json.dumps(verify_webhook(given["secret"], given["headers"], given["body"].encode())))`,
  },
}

describe.each(Object.entries(programs))('the documented verification in %s', (language, { command, tail }) => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/webhooks.md'), 'utf8')
  const code = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''
  const program = join(folder, `verify.${language === 'ts' ? 'ts' : 'py'}`)
  writeFileSync(program, code + tail)

  const verify = (headers: Record<string, string>, sent = body) => {
    writeFileSync(join(folder, `${language}.json`), JSON.stringify({ secret, headers, body: sent }))
    return execFileSync(command, [program, join(folder, `${language}.json`)], { encoding: 'utf8', stdio: 'pipe' })
  }

  it('accepts our messages, and refuses others', () => {
    expect(JSON.parse(verify(sign([makeWebhookSecret(), secret])))).toEqual(JSON.parse(body))
    expect(() => verify(sign([secret]), `${body} `)).toThrow('the signature is wrong')
    expect(() => verify(sign([makeWebhookSecret()]))).toThrow('the signature is wrong')
    expect(() => verify(sign([secret], now() - 3_600))).toThrow('too old')
  })
})
