import { randomUUID } from 'node:crypto'
import { describeOnBothEngines } from '@agentgym/testkit/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from './database.ts'
import { violatedConstraint } from './violated-constraint.ts'

const hash = (digit: string) => digit.repeat(64)

/** Raw statements on purpose: the database must refuse them regardless of our code and types. */
describeOnBothEngines('constraints on $kind', ({ open }) => {
  let database: Database
  let user: string
  let organisation: string
  let packageId: string
  let versionId: string
  beforeAll(async () => {
    database = await open()
    user = await insert('accounts', { kind: 'user', username: 'jane', username_canonical: 'jane', email: 'jane@x.org' })
    organisation = await insert('accounts', { kind: 'organisation', username: 'acme', username_canonical: 'acme' })
    packageId = await insert('packages', packageRow('@acme/maze'))
    versionId = await insert('versions', versionRow('1.0.0'))
  })
  afterAll(() => database.close())

  async function insert(table: string, row: Record<string, unknown>): Promise<string> {
    const columns = Object.keys(row)
    const { rows } = await database.execute(
      `insert into ${table} (${columns}) values (${columns.map((_, index) => `$${index + 1}`)}) returning *`,
      Object.values(row),
    )
    return String(rows[0].id)
  }
  const packageRow = (name: string, canonical = name) => ({
    name,
    name_canonical: canonical,
    owner_id: organisation,
    kind: 'scenario',
  })
  const versionRow = (version: string) => ({
    package_id: packageId,
    version,
    state: 'checking',
    manifest: JSON.stringify({ name: '@acme/maze', version }),
    readme: '# Maze',
    integrity: `sha512-${'A'.repeat(86)}==`,
    shasum: '0'.repeat(40),
    object_key: `sha256/${hash('0')}`,
    size: 1,
    unpacked_size: 1,
    file_count: 1,
    published_by: user,
    intended_tag: 'latest',
  })
  const refusal = async (work: Promise<unknown>) =>
    violatedConstraint(
      await work.then(
        () => undefined,
        (error) => error,
      ),
    )
  const set = (table: string, assignment: string) => refusal(database.execute(`update ${table} set ${assignment}`))

  it.each([
    [{ username: 'Jane' }, 'accounts_username_check'],
    [{ username: '-jane' }, 'accounts_username_check'],
    [{ username: 'jane doe' }, 'accounts_username_check'],
    [{ username: 'jane\n' }, 'accounts_username_check'],
    [{ username: 'j'.repeat(40) }, 'accounts_username_check'],
    [{ username: 'jane' }, 'accounts_username_key'],
    [{ username_canonical: 'jane' }, 'accounts_username_canonical_key'],
    [{ email: 'jane@x.org' }, 'accounts_email_key'],
    [{ email: 'Jane@y.org' }, 'accounts_email_check'],
    [{ password_hash: 'secret' }, 'accounts_password_hash_check'],
    [{ kind: 'robot' }, 'accounts_kind_check'],
    [{ kind: 'organisation', email: 'a@y.org' }, 'accounts_organisation_check'],
    [{ kind: 'organisation', operator: true }, 'accounts_organisation_check'],
  ])('refuses an account with %j', async (fields, constraint) => {
    const row = { kind: 'user', username: 'other', username_canonical: 'other', ...fields }
    expect(await refusal(insert('accounts', row))).toBe(constraint)
  })

  it('refuses organizations as members, users as organizations, and unknown roles', async () => {
    const membership = (organisation_id: string, user_id: string, role = 'member') =>
      refusal(insert('memberships', { organisation_id, user_id, role }))
    expect(await membership(organisation, organisation)).toBe('memberships_kinds')
    expect(await membership(user, user)).toBe('memberships_kinds')
    expect(await membership(organisation, user, 'king')).toBe('memberships_role_check')
    expect(await membership(organisation, randomUUID())).toBe('memberships_kinds')
    expect(await membership(organisation, user)).toBeUndefined()
    expect(await membership(organisation, user, 'owner')).toBe('memberships_pkey')
  })

  it('requires session IDs and tokens to be hashes', async () => {
    const session = { id: 'raw', user_id: user, expires_at: new Date() }
    expect(await refusal(insert('sessions', session))).toBe('sessions_id_check')
    const token = { account_id: user, name: 'ci', hash: hash('a'), prefix: 'agt_abc', scopes: '[]' }
    expect(await refusal(insert('tokens', { ...token, hash: 'agt_abcdef' }))).toBe('tokens_hash_check')
    expect(await refusal(insert('tokens', { ...token, scopes: '{}' }))).toBe('tokens_scopes_check')
    await insert('tokens', token)
    expect(await refusal(insert('tokens', token))).toBe('tokens_hash_key')
  })

  it('has one pending login per user code, and approves none without an account', async () => {
    const code = (fields: Record<string, unknown>) =>
      refusal(
        insert('device_codes', { user_code: 'ABCD', name: 'laptop', scopes: '[]', expires_at: new Date(), ...fields }),
      )
    expect(await code({ hash: hash('1') })).toBeUndefined()
    expect(await code({ hash: hash('2') })).toBe('device_codes_user_code_key')
    expect(await code({ hash: hash('3'), state: 'approved' })).toBe('device_codes_approved_check')
    expect(await code({ hash: hash('4'), state: 'approved', account_id: user })).toBeUndefined()
  })

  it.each([
    [packageNamed('@acme/Maze'), 'packages_name_check'],
    [packageNamed('maze'), 'packages_name_check'],
    [packageNamed('@acme/../maze'), 'packages_name_check'],
    [packageNamed('@acme/.maze'), 'packages_name_check'],
    [packageNamed(`@acme/${'m'.repeat(209)}`), 'packages_name_check'],
    [packageNamed('@acme/maze'), 'packages_name_key'],
    [{ ...packageNamed('@acme/m4ze'), name_canonical: '@acme/maze' }, 'packages_name_canonical_key'],
    [{ ...packageNamed('@acme/a'), price_minor: -1 }, 'packages_price_minor_check'],
    [{ ...packageNamed('@acme/a'), quality: 101 }, 'packages_quality_check'],
    [{ ...packageNamed('@acme/a'), downloads: -1 }, 'packages_downloads_check'],
    [{ ...packageNamed('@acme/a'), visibility: 'hidden' }, 'packages_visibility_check'],
    [{ ...packageNamed('@acme/a'), owner_id: randomUUID() }, 'packages_owner_id_fkey'],
    [{ ...packageNamed('@acme/a'), latest_version: '9.9.9' }, 'packages_latest_version_fkey'],
  ])('refuses a package with %j', async (fields, constraint) => {
    expect(await refusal(insert('packages', { owner_id: organisation, kind: 'scenario', ...fields }))).toBe(constraint)
  })

  it.each([
    [{ version: '1.0.0' }, 'versions_package_id_version_key'],
    [{ version: 'v1.0.0' }, 'versions_version_check'],
    [{ version: '1.0' }, 'versions_version_check'],
    [{ version: '2.0.0', state: 'published' }, 'versions_published_at_check'],
    [{ version: '2.0.0', published_at: new Date() }, 'versions_published_at_check'],
    [{ version: '2.0.0', state: 'hidden' }, 'versions_state_check'],
    [{ version: '2.0.0', integrity: 'sha1-abc' }, 'versions_integrity_check'],
    [{ version: '2.0.0', shasum: 'abc' }, 'versions_shasum_check'],
    [{ version: '2.0.0', object_key: '../etc/passwd' }, 'versions_object_key_check'],
    [{ version: '2.0.0', size: -1 }, 'versions_size_check'],
    [{ version: '2.0.0', manifest: '[]' }, 'versions_manifest_check'],
    [{ version: '2.0.0', bundle_hash: 'abc' }, 'versions_bundle_hash_check'],
  ])('refuses a version with %j', async (fields, constraint) => {
    expect(await refusal(insert('versions', { ...versionRow('2.0.0'), ...fields }))).toBe(constraint)
  })

  it('points tags only at existing versions', async () => {
    const tag = { package_id: packageId, tag: 'latest', version: '1.0.0' }
    expect(await refusal(insert('tags', { ...tag, version: '3.0.0' }))).toBe('tags_version_fkey')
    await insert('tags', tag)
    expect(await refusal(insert('tags', tag))).toBe('tags_pkey')
  })

  it('counts a client once per version and day', async () => {
    const download = { version_id: versionId, day: '2026-11-28', client: 'a' }
    await insert('downloads', download)
    expect(await refusal(insert('downloads', download))).toBe('downloads_pkey')
    await insert('downloads', { ...download, day: '2026-11-29' })
  })

  it('only appends to the audit log', async () => {
    await insert('audit', { actor_id: user, action: 'package.publish', subject: '@acme/maze@1.0.0' })
    expect(await set('audit', `action = 'nothing'`)).toBe('audit_append_only')
    expect(await refusal(database.execute('delete from audit'))).toBe('audit_append_only')
    expect(await refusal(database.execute('truncate audit'))).toBe('audit_append_only_truncate')
    expect((await database.execute('select action from audit')).rows).toEqual([{ action: 'package.publish' }])
  })

  it.each([
    `username = 'eve', username_canonical = 'eve'`,
    `kind = 'organisation', email = null`,
    `created_at = now() + interval '1 day'`,
  ])('refuses to change the identity of an account: %s', async (assignment) => {
    expect(await set('accounts', `${assignment} where username = 'jane'`)).toBe('accounts_fixed')
  })

  it('never changes the identity of a package', async () => {
    expect(await set('packages', `name = '@acme/other'`)).toBe('packages_fixed')
    expect(await set('packages', `owner_id = '${user}'`)).toBe('packages_fixed')
    expect(await refusal(database.execute('delete from packages'))).toBe('packages_kept')
    expect(await set('packages', 'downloads = downloads + 1')).toBeUndefined()
  })

  it.each([
    ...[
      `version = '1.0.1'`,
      `manifest = '{}'`,
      `readme = ''`,
      `shasum = repeat('1', 40)`,
      'size = 2',
      'file_count = 2',
    ],
    ...[`integrity = 'sha512-' || repeat('B', 86) || '=='`, `object_key = 'sha256/' || repeat('1', 64)`],
    ...['unpacked_size = 2', `bundle_hash = repeat('1', 64)`, `intended_tag = 'next'`, `created_at = to_timestamp(0)`],
    ...['id = gen_random_uuid()', `published_by = (select id from accounts where username = 'acme')`],
  ])('never changes a version: %s', async (assignment) => {
    expect(await set('versions', assignment)).toBe('versions_immutable')
  })

  it('decides a version once, and never deletes it', async () => {
    expect(await set('versions', `checks = '[{"id": "loads"}]', downloads = 3`)).toBeUndefined()
    expect(await set('versions', `state = 'published', published_at = now()`)).toBeUndefined()
    expect(await set('versions', `state = 'rejected', published_at = null`)).toBe('versions_decided_once')
    expect(await set('versions', `published_at = to_timestamp(0)`)).toBe('versions_decided_once')
    expect(await set('versions', `yanked_at = now(), deprecated = 'old'`)).toBeUndefined()
    expect(await refusal(database.execute('delete from versions'))).toBe('versions_kept')
    expect(await refusal(database.execute('truncate versions cascade'))).toBe('versions_kept_truncate')
  })
})

function packageNamed(name: string): { name: string; name_canonical: string } {
  return { name, name_canonical: name.toLowerCase().replace('maze', 'mazes') }
}
