import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { SigningKeys } from '@agentgym/contract'
import type { Transaction } from 'kysely'
import { seal, unseal } from '../../core/access/sealed.ts'
import type { Queries } from '../../core/database/database.ts'
import type { Schema } from '../../core/database/schema.ts'
import type { ServerConfig, Services } from '../../core/services.ts'

/** The current signing key. The private key is kept in memory only while it is needed. */
type SigningKey = { id: string; sign(text: string): string }

/**
 * This installation's signing key: the operator's own (AGENTGYM_SIGNING_KEY), else one that is generated if there is
 * none and stored sealed with the installation's secret. All others are retired: their signatures stay valid. Locks the
 * keys until the transaction ends, so that no two replicas generate one each.
 */
export async function signingKey(
  query: Transaction<Schema>,
  { database, config, log }: Pick<Services, 'database' | 'config' | 'log'>,
): Promise<SigningKey> {
  await database.lock(query, 'signing-keys')
  const own = config.signingKey === undefined ? await openSealed(query, config) : given(config.signingKey)
  const key = own ?? makeKey(config)
  const retired = await query
    .updateTable('signing_keys')
    .set({ retired_at: new Date() })
    .where('id', '<>', key.id)
    .where('retired_at', 'is', null)
    .returning('id')
    .execute()
  if (retired.length > 0)
    log.warn('a signing key was retired', { retired: retired.map(({ id }) => id), key_id: key.id })
  await query
    .insertInto('signing_keys')
    .values({ id: key.id, public_key: key.publicKey, sealed_private_key: key.sealed })
    // A retired key of the operator that was configured again.
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ retired_at: null }))
    .execute()
  return { id: key.id, sign: (text) => sign(null, Buffer.from(text), key.privateKey).toString('base64') }
}

/** All keys that have signed statements, newest first. */
export async function listSigningKeys(query: Queries): Promise<SigningKeys> {
  const rows = await query
    .selectFrom('signing_keys')
    .select(['id', 'public_key', 'created_at', 'retired_at'])
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return {
    keys: rows.map(({ id, public_key, created_at, retired_at }) => ({
      id,
      algorithm: 'Ed25519' as const,
      public_key,
      created_at: created_at.toISOString(),
      retired_at: retired_at?.toISOString() ?? null,
    })),
  }
}

/** Ensures that a key exists before it is needed. */
export async function ensureSigningKey(services: Pick<Services, 'database' | 'config' | 'log'>): Promise<void> {
  await services.database.transaction((query) => signingKey(query, services))
}

type Key = { id: string; publicKey: string; privateKey: KeyObject; sealed: string | null }

function given(privateKey: KeyObject): Key {
  return { ...publicParts(privateKey), privateKey, sealed: null }
}

function makeKey({ secret }: Pick<ServerConfig, 'secret'>): Key {
  const { privateKey } = generateKeyPairSync('ed25519')
  const parts = publicParts(privateKey)
  const der = privateKey.export({ type: 'pkcs8', format: 'der' })
  return { ...parts, privateKey, sealed: seal({ secret, purpose: 'signing key', id: parts.id }, der) }
}

/** The ID is the beginning of the SHA-256 of the public key (SubjectPublicKeyInfo, DER). */
function publicParts(privateKey: KeyObject): { id: string; publicKey: string } {
  const publicKey = createPublicKey(privateKey)
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16)
  return { id, publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() }
}

/** Undefined if there is none, or if it was sealed with another secret, which makes it unusable. */
async function openSealed(query: Queries, { secret }: Pick<ServerConfig, 'secret'>): Promise<Key | undefined> {
  const rows = await query
    .selectFrom('signing_keys')
    .select(['id', 'public_key', 'sealed_private_key'])
    .where('retired_at', 'is', null)
    .where('sealed_private_key', 'is not', null)
    .orderBy('created_at', 'desc')
    .execute()
  for (const { id, public_key: publicKey, sealed_private_key: sealed } of rows) {
    const der = sealed === null ? undefined : unseal({ secret, purpose: 'signing key', id }, sealed)
    if (der === undefined) continue
    return { id, publicKey, privateKey: createPrivateKey({ key: der, type: 'pkcs8', format: 'der' }), sealed }
  }
  return undefined
}

/**
 * Canonical JSON: keys sorted by UTF-16 code units, without white space. Equals RFC 8785 for the values in statements.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(',')}}`
}
