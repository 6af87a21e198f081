import { spawnSync } from 'node:child_process'
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  verify,
} from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { verifyStatement } from '@agentgym/client'
import type { SigningKeys, Verification } from '@agentgym/contract'
import { describeOnEngines } from '@agentgym/testkit/databases'
import { type TestServices, testServices } from '@agentgym/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../app/app.ts'
import type { Actor } from '../../core/access/authorize.ts'
import type { Database } from '../../core/database/database.ts'
import { describeVersion } from '../packages/describe-versions.ts'
import { createActor, publish } from '../packages/testing/publishing.ts'
import { canonicalJson, ensureSigningKey, listSigningKeys } from './signing-keys.ts'
import { verifyAgent } from './testing/verifying.ts'
import { verificationRoutes } from './verification.routes.ts'

type Signed = NonNullable<Verification['signed']>

describeOnEngines('signing keys on $kind', ({ open }) => {
  let database: Database
  let services: TestServices
  let ada: Actor
  let signed: Signed

  beforeAll(async () => {
    database = await open()
    services = await testServices(database)
    ada = await createActor(database)
    await Promise.all([ensureSigningKey(services), ensureSigningKey(services)])
    await publish(services, ada, '1.0.0')
    signed = await statementOf('first')
  })
  afterAll(async () => {
    await database.close()
    await services.remove()
  })

  /** Has an agent verified by a server with that key of its own, or without one. */
  async function statementOf(base: string, signingKey?: KeyObject): Promise<Signed> {
    const server = { ...services, config: { ...services.config, signingKey } }
    const { name } = await verifyAgent(server, ada, { base })
    const { verification } = await describeVersion(services, ada, name, '0.1.0')
    if (!verification?.signed) throw new Error(`${name} is ${verification?.state}: ${verification?.message}`)
    return verification.signed
  }
  const keys = (): Promise<SigningKeys> => listSigningKeys(database.query)
  const invalid = { code: 'signature_invalid' }

  it('is created once at the first start, and signs', async () => {
    const { keys: made } = await keys()
    expect(made).toHaveLength(1)
    expect(made[0]).toMatchObject({ id: signed.key_id, algorithm: 'Ed25519', retired_at: null })
    const statement = await verifyStatement(signed, await keys())
    expect(statement).toMatchObject({ type: 'agentgym-verification-2', agent: { name: `@${ada.username}/first` } })
    expect(canonicalJson(statement), 'the text is canonical').toBe(signed.statement)
  })

  it('rejects altered statements, other signatures and other keys', async () => {
    const list = await keys()
    for (const change of [
      { statement: signed.statement.replace('"return_mean":0.95', '"return_mean":9.95') },
      { statement: `${signed.statement} ` },
      { statement: signed.statement.replace(`"version":"0.1.0"`, `"version":"0.1.1"`) },
      { signature: Buffer.from(signed.signature, 'base64').reverse().toString('base64') },
      { signature: '' },
      { signature: 'not base64!' },
      { key_id: '0'.repeat(16) },
    ]) {
      expect({ ...signed, ...change }).not.toEqual(signed)
      await expect(verifyStatement({ ...signed, ...change }, list)).rejects.toMatchObject(invalid)
    }
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .publicKey.export({ type: 'spki', format: 'pem' })
      .toString()
    for (const public_key of [other, rsa, '', 'no key'])
      await expect(verifyStatement(signed, { keys: [{ ...list.keys[0], public_key }] })).rejects.toMatchObject(invalid)
  })

  it('can be verified with OpenSSL alone, as documented', async () => {
    const key = (await keys()).keys.find(({ id }) => id === signed.key_id)?.public_key ?? ''
    const at = (name: string) => join(services.folder, name)
    writeFileSync(at('key.pem'), key)
    writeFileSync(at('statement.json'), signed.statement)
    writeFileSync(at('altered.json'), signed.statement.replace('0.95', '0.96'))
    writeFileSync(at('signature.bin'), Buffer.from(signed.signature, 'base64'))
    const openssl = (file: string) => {
      const options = [
        'pkeyutl',
        '-verify',
        '-pubin',
        '-inkey',
        'key.pem',
        '-rawin',
        '-in',
        file,
        '-sigfile',
        'signature.bin',
      ]
      return spawnSync('openssl', options, { cwd: services.folder, encoding: 'utf8' })
    }
    const good = openssl('statement.json')
    if (good.error === undefined) {
      expect(good).toMatchObject({ status: 0, stdout: 'Signature Verified Successfully\n' })
      expect(openssl('altered.json').status).not.toBe(0)
    }
    // A machine without the program has the library all the same: Node is linked with it.
    const signature = Buffer.from(signed.signature, 'base64')
    expect(verify(null, Buffer.from(signed.statement), createPublicKey(key), signature)).toBe(true)
  })

  it('a replaced key no longer signs, and its signatures stay valid', async () => {
    const own = generateKeyPairSync('ed25519').privateKey
    const second = await statementOf('second', own)
    expect(second.key_id).not.toBe(signed.key_id)
    const list = await keys()
    expect(list.keys.find(({ id }) => id === signed.key_id)?.retired_at).not.toBeNull()
    expect(list.keys.find(({ id }) => id === second.key_id)?.retired_at).toBeNull()
    await verifyStatement(signed, list)
    await verifyStatement(second, list)
    const before = list.keys.map((key) => ({ ...key, retired_at: '2026-01-01T00:00:00.000Z' }))
    await expect(verifyStatement(signed, { keys: before }), 'signed after it was retired').rejects.toMatchObject(
      invalid,
    )

    const third = await statementOf('third')
    expect([signed.key_id, second.key_id], 'a retired key of our own is not taken up again').not.toContain(third.key_id)
    const again = await statementOf('fourth', own)
    expect(again.key_id, 'an operator may give theirs again').toBe(second.key_id)
    for (const each of [signed, second, third, again]) await verifyStatement(each, await keys())
    const active = (await keys()).keys.filter(({ retired_at }) => retired_at === null)
    expect(active.map(({ id }) => id)).toEqual([second.key_id])
  })

  it('the private key is sealed: with another secret, a new key replaces it', async () => {
    const { sealed_private_key: sealed } = await database.query
      .selectFrom('signing_keys')
      .select('sealed_private_key')
      .where('id', '=', signed.key_id)
      .executeTakeFirstOrThrow()
    const bytes = Buffer.from(sealed ?? '', 'base64')
    expect(() => createPrivateKey({ key: bytes, type: 'pkcs8', format: 'der' })).toThrow()
    expect(bytes.includes(Buffer.from('302e020100300506032b6570', 'hex')), 'the head of every such key in DER').toBe(
      false,
    )
    await ensureSigningKey(services)
    const active = async () => (await keys()).keys.filter(({ retired_at }) => retired_at === null).map(({ id }) => id)
    const [mine] = await active()
    await ensureSigningKey(services)
    expect(await active()).toEqual([mine])
    await ensureSigningKey({ ...services, config: { ...services.config, secret: randomBytes(32) } })
    expect(await active()).not.toEqual([mine])
    await verifyStatement(signed, await keys())
  })

  it('no route and no log shows a private key', async () => {
    const own = generateKeyPairSync('ed25519').privateKey
    const config = { ...services.config, signingKey: own }
    await ensureSigningKey({ ...services, config })
    const app = createApp({ ...services, config }, { routes: [verificationRoutes({ ...services, config })] })
    const response = await app.request('/v1/keys')
    expect(response.status).toBe(200)
    const answered = (await response.json()) as SigningKeys
    for (const key of answered.keys)
      expect(Object.keys(key).sort()).toEqual(['algorithm', 'created_at', 'id', 'public_key', 'retired_at'])
    const raw = own.export({ format: 'jwk' }).d ?? ''
    const secrets = [
      raw,
      Buffer.from(raw, 'base64url').toString('hex'),
      Buffer.from(raw, 'base64url').toString('base64'),
    ]
    const sealed = await database.query.selectFrom('signing_keys').select('sealed_private_key').execute()
    secrets.push(...sealed.flatMap(({ sealed_private_key: text }) => text ?? []))
    const shown = JSON.stringify([answered, services.logged, config]) + inspect([services.logged, config], { depth: 9 })
    expect(services.logged.some(({ message }) => message === 'a signing key was retired')).toBe(true)
    for (const secret of secrets) expect(shown).not.toContain(secret)
    expect(shown).not.toContain('PRIVATE KEY')
  })
})

describe('canonical JSON', () => {
  it('is the same for equal values in any key order', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'é\n' }], a: 0.1 + 0.2 })).toBe(
      '{"a":0.30000000000000004,"b":[1,{"c":"é\\n","d":null}]}',
    )
    expect(canonicalJson({ a: 1, B: 2, ä: 3, '': 4 })).toBe('{"":4,"B":2,"a":1,"ä":3}')
  })
})
