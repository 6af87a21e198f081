import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { SigningKeys, VerificationStatement } from '@agentgym/contract'
import { describe, expect, it } from 'vitest'
import { verifyStatement } from './verify-statement.ts'

const invalid = { code: 'signature_invalid' }
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519')
const keysOf = (key: KeyObject, id = 'k1'): SigningKeys => ({
  keys: [
    {
      id,
      algorithm: 'Ed25519',
      public_key: key.export({ type: 'spki', format: 'pem' }).toString(),
      created_at: '2026-11-28T03:00:00.000Z',
      retired_at: null,
    },
  ],
})
const evaluation = {
  scenario: '@acme/desk@1.0.0',
  episodes: 100,
  seed: 7,
  return_mean: 1,
  return_std: 0,
  length_mean: 20,
  metrics: {},
  success: { ok: null, criteria: [] },
  trajectory_hash: 'a'.repeat(64),
}
const statement: VerificationStatement = {
  type: 'agentgym-verification-1',
  server: 'https://gym.example',
  key_id: 'k1',
  agent: { name: '@ann/desk', version: '1.0.0', integrity: 'sha512-x', model_hash: 'b'.repeat(64) },
  scenario: { name: '@acme/desk', version: '1.0.0', hash: 'c'.repeat(64), integrity: 'sha512-y' },
  claim: evaluation,
  held_out: { ...evaluation, seed: 8 },
  output_hash: 'd'.repeat(64),
  runtime: { node: '24.21.0' },
  verified_at: '2026-11-28T03:00:00.000Z',
}

function signed(text = JSON.stringify(statement), key = privateKey, keyId = 'k1') {
  return { statement: text, signature: sign(null, Buffer.from(text), key).toString('base64'), key_id: keyId }
}

describe('verifyStatement', () => {
  it('returns a statement signed by a server key, whatever its white space', async () => {
    expect(await verifyStatement(signed(), keysOf(publicKey))).toEqual(statement)
    expect(await verifyStatement(signed(JSON.stringify(statement, null, 1)), keysOf(publicKey))).toEqual(statement)
  })

  it('accepts a retired key, unless it signed after its retirement', async () => {
    const [key] = keysOf(publicKey).keys
    const retired = (retired_at: string): SigningKeys => ({ keys: [{ ...key, retired_at }] })
    expect(await verifyStatement(signed(), retired('2026-12-01T00:00:00.000Z'))).toEqual(statement)
    await expect(verifyStatement(signed(), retired('2026-11-27T00:00:00.000Z'))).rejects.toMatchObject(invalid)
  })

  const { signature } = signed()
  it.each<[string, ReturnType<typeof signed>, SigningKeys]>([
    [
      'a text changed by one digit',
      { ...signed(), statement: signed().statement.replace('"episodes":100', '"episodes":101') },
      keysOf(publicKey),
    ],
    [
      'a signature changed by one bit',
      { ...signed(), signature: `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}` },
      keysOf(publicKey),
    ],
    ['no signature', { ...signed(), signature: '' }, keysOf(publicKey)],
    ['a signature by another key', signed(undefined, other.privateKey), keysOf(publicKey)],
    ['a key that the server has not', signed(undefined, privateKey, 'k2'), keysOf(publicKey)],
    ['a text that names another key', signed(JSON.stringify({ ...statement, key_id: 'k2' })), keysOf(publicKey)],
    ['a text that is no statement', signed('{"type":"agentgym-verification-9"}'), keysOf(publicKey)],
    ['a text with a field too many', signed(JSON.stringify({ ...statement, note: 'x' })), keysOf(publicKey)],
    ['a text that is no JSON', signed('verified'), keysOf(publicKey)],
    ['a key that is none', signed(), { keys: [{ ...keysOf(publicKey).keys[0], public_key: 'none' }] }],
    ['a key of another kind', signed(), keysOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)],
  ])('refuses %s', async (_, given, keys) => {
    await expect(verifyStatement(given, keys)).rejects.toMatchObject(invalid)
  })
})
